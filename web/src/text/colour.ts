/** Colours lines of code with Shiki. It runs in a worker; nothing here knows that. */

import {
  type GrammarState,
  type HighlighterCore,
  type LanguageInput,
  createHighlighterCore,
} from "@shikijs/core";
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { LINE_LIMIT, type LineColours } from "./fence.ts";
import type { Language } from "./languages.ts";
import { THEME, kindOf } from "./palette.ts";

/**
 * Milliseconds for one line. A line that is given up leaves the grammar in its middle and spoils
 * the lines below, and the first lines of a language compile its rules: so there is much of it.
 */
const LINE_TIME = 3000;

const GRAMMARS: Readonly<Record<Language, LanguageInput>> = {
  bash: () => import("@shikijs/langs/bash"),
  c: () => import("@shikijs/langs/c"),
  cpp: () => import("@shikijs/langs/cpp"),
  csharp: () => import("@shikijs/langs/csharp"),
  css: () => import("@shikijs/langs/css"),
  diff: () => import("@shikijs/langs/diff"),
  docker: () => import("@shikijs/langs/docker"),
  go: () => import("@shikijs/langs/go"),
  html: () => import("@shikijs/langs/html"),
  ini: () => import("@shikijs/langs/ini"),
  java: () => import("@shikijs/langs/java"),
  javascript: () => import("@shikijs/langs/javascript"),
  json: () => import("@shikijs/langs/json"),
  jsx: () => import("@shikijs/langs/jsx"),
  kotlin: () => import("@shikijs/langs/kotlin"),
  make: () => import("@shikijs/langs/make"),
  markdown: () => import("@shikijs/langs/markdown"),
  php: () => import("@shikijs/langs/php"),
  python: () => import("@shikijs/langs/python"),
  ruby: () => import("@shikijs/langs/ruby"),
  rust: () => import("@shikijs/langs/rust"),
  sql: () => import("@shikijs/langs/sql"),
  swift: () => import("@shikijs/langs/swift"),
  toml: () => import("@shikijs/langs/toml"),
  tsx: () => import("@shikijs/langs/tsx"),
  typescript: () => import("@shikijs/langs/typescript"),
  xml: () => import("@shikijs/langs/xml"),
  yaml: () => import("@shikijs/langs/yaml"),
};

export class Colourer {
  #core: Promise<HighlighterCore> | null = null;
  #states = new Map<number, GrammarState>();

  /** The colours of the next lines of a piece of code. */
  async colour(id: number, language: Language, lines: readonly string[]): Promise<LineColours[]> {
    const core = await this.#ready(language);
    const state = this.#states.get(id);
    const tokens = core.codeToTokensBase(lines.join("\n"), {
      lang: language,
      theme: THEME.name,
      tokenizeMaxLineLength: LINE_LIMIT,
      tokenizeTimeLimit: LINE_TIME,
      ...(state === undefined ? {} : { grammarState: state }),
    });
    const next = core.getLastGrammarState(tokens);
    if (next !== undefined) this.#states.set(id, next);
    return tokens.map(packed);
  }

  /** Forgets where a piece of code had got to. */
  forget(id: number): void {
    this.#states.delete(id);
  }

  async #ready(language: Language): Promise<HighlighterCore> {
    this.#core ??= createHighlighterCore({
      themes: [THEME],
      langs: [],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    });
    const core = await this.#core;
    if (!core.getLoadedLanguages().includes(language)) await core.loadLanguage(GRAMMARS[language]);
    return core;
  }
}

interface Coloured {
  readonly content: string;
  readonly color?: string;
}

function packed(line: readonly Coloured[]): LineColours {
  const out: number[] = [];
  for (const { content, color } of line) {
    const kind = kindOf(color);
    if (out.length > 0 && out.at(-1) === kind)
      out[out.length - 2] = (out.at(-2) ?? 0) + content.length;
    else out.push(content.length, kind);
  }
  if (out.at(-1) === 0) out.length -= 2;
  return out;
}

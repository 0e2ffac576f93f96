import { useEffect, useMemo, useState } from "react";
import { useApp } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, listOf, textOf } from "../store/values.ts";
import { ranked } from "./fuzzy.ts";
import { resourcesOf } from "./resources.ts";
import { GROUPS, isOurs, slashCommands } from "./slash.ts";
import { type Token, mention, tokenAt } from "./tokens.ts";
import type { Agent } from "./use-agent.ts";

export interface Suggestion {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly about: string;
  /** The heading above the first of its kind; "": none. */
  readonly group: string;
  /** What stands in the text once it is chosen. */
  readonly word: string;
}

export interface Suggestions {
  readonly token: Token | undefined;
  readonly all: readonly Suggestion[];
  /** What is typed is a name as it is: Enter sends it. */
  readonly exact: boolean;
}

const MOST = 50;
const MOST_FILES = 20;
const MOST_RESOURCES = 10;
const PAUSE_MS = 60; // people type quickly, and only the last letters count
const NONE: readonly Suggestion[] = [];

/** What may be meant by the word at the caret. */
export function useSuggestions(
  store: SessionStore,
  agent: Agent,
  text: string,
  caret: number,
): Suggestions {
  const token = useMemo(() => tokenAt(text, caret), [text, caret]);
  const files = useFiles(store, token?.kind === "file" ? token.query : undefined);
  const commands = useMemo(
    () => (token?.kind === "slash" ? commandsFor(agent, token.query) : NONE),
    [agent, token],
  );
  const resources = useMemo(
    () => (token?.kind === "file" ? resourcesFor(store, token.query) : NONE),
    [store, token],
  );
  const all =
    token === undefined ? NONE : token.kind === "slash" ? commands : [...resources, ...files];
  const named = token?.kind === "slash" ? token.query : "";
  const exact = named !== "" && (all[0]?.label === `/${named}` || isOurs(named, agent));
  return { token, all, exact };
}

export function commandsFor(agent: Agent, letters: string): readonly Suggestion[] {
  const known = slashCommands(agent, agent.about);
  const fitting = ranked(known, letters, (one) => one.name).slice(0, MOST);
  // while nothing is typed they stand in groups, later the best stands first
  const grouped = letters === "";
  return fitting.map((one) => ({
    id: `slash-${one.name}`,
    label: `/${one.name}`,
    hint: one.hint,
    about: one.about,
    group: grouped ? GROUPS[one.group] : "",
    word: `/${one.name} `,
  }));
}

function resourcesFor(store: SessionStore, letters: string): readonly Suggestion[] {
  const known = resourcesOf(store.transcript.items.values());
  return ranked(known, letters, (one) => `${one.server}:${one.uri} ${one.name}`)
    .slice(0, MOST_RESOURCES)
    .map((one) => ({
      id: `resource-${one.server}:${one.uri}`,
      label: `${one.server}:${one.uri}`,
      hint: "",
      about: one.name,
      group: "",
      word: `@${one.server}:${one.uri} `,
    }));
}

/** Files of the session's directory, found and ranked by the gateway. */
function useFiles(store: SessionStore, query: string | undefined): readonly Suggestion[] {
  const app = useApp();
  const [found, setFound] = useState<readonly Suggestion[]>(NONE);
  useEffect(() => {
    if (query === undefined) return undefined;
    let wanted = true;
    const timer = setTimeout(() => {
      app.ask("files", { session: store.session, query, limit: MOST_FILES }).then(
        (value) => {
          if (wanted) setFound(filesOf(value));
        },
        () => {
          if (wanted) setFound(NONE);
        },
      );
    }, PAUSE_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [app, store, query]);
  return query === undefined ? NONE : found;
}

export function filesOf(value: unknown): readonly Suggestion[] {
  return listOf(fieldsOf(value)["files"])
    .map(fieldsOf)
    .map((one) => {
      const path = textOf(one["path"]);
      const folder = one["kind"] === "folder";
      const word = mention(path, folder);
      return {
        id: `file-${path}`,
        label: folder ? `${path}/` : path,
        hint: "",
        about: folder ? "folder" : "",
        group: "",
        word: folder ? word : `${word} `,
      };
    });
}

/**
 * Colours for code, from a worker that is started when the first piece of code asks for it.
 *
 * Everything here can fail without harm: code without colours is plain text. A worker that does
 * not answer in time is ended; after a few of them no more are started.
 */

import { FenceColours, type LineColours } from "./fence.ts";
// oxlint-disable-next-line import/default -- made by the build
import workerFile from "./highlight.worker.ts?worker&url";
import type { Language } from "./languages.ts";
import { workerAddress } from "./trusted.ts";

export type ToWorker =
  | { type: "lines"; id: number; language: Language; lines: readonly string[]; last: boolean }
  | { type: "forget"; id: number };

/** `colours` is null when these lines could not be coloured. */
export interface ToPage {
  id: number;
  colours: readonly LineColours[] | null;
}

/** The part of a Worker that is used. */
export type Colleague = Pick<Worker, "postMessage" | "terminate" | "addEventListener">;

const ANSWER_MS = 10_000;
const STARTS = 3;
const KEPT = 2 * 1024 * 1024; // letters of finished code whose colours are remembered

export class Highlighter {
  #worker: Colleague | null = null;
  #starts = 0;
  #nextId = 0;
  #open = new Map<number, FenceColours>();
  #kept = new Map<string, FenceColours>();
  #letters = 0;
  #unanswered = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly start: () => Colleague) {}

  /** Colours for code that may grow. Give it back with `close`, or with `keep` when it is over. */
  open(language: Language): FenceColours {
    const id = this.#nextId++;
    const fence = new FenceColours((lines, last) =>
      this.#ask({ type: "lines", id, language, lines, last }),
    );
    this.#open.set(id, fence);
    return fence;
  }

  /** Colours for code that is finished. What was coloured before needs no worker. */
  whole(language: Language, text: string): FenceColours {
    const fence = this.#kept.get(nameOf(language, text)) ?? this.open(language);
    this.keep(language, text, fence);
    return fence;
  }

  /** Ends a piece of code, and remembers its colours for the next time it is shown. */
  keep(language: Language, text: string, fence: FenceColours): void {
    const name = nameOf(language, text);
    if (!this.#kept.delete(name)) this.#letters += name.length;
    this.#kept.set(name, fence);
    for (const oldest of this.#kept.keys()) {
      if (this.#letters <= KEPT) break;
      this.#kept.delete(oldest);
      this.#letters -= oldest.length;
    }
    fence.update(text, true);
  }

  /** Nobody looks at a growing piece any more. An ended one closes by itself. */
  close(fence: FenceColours): void {
    if (fence.ended) return;
    for (const [id, one] of this.#open) {
      if (one !== fence) continue;
      this.#open.delete(id);
      this.#tell({ type: "forget", id });
    }
  }

  #ask(asked: ToWorker): void {
    if (this.#running() === null) return;
    this.#tell(asked);
    this.#unanswered += 1;
    this.#watch();
  }

  #tell(said: ToWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    this.#worker?.postMessage(said);
  }

  #running(): Colleague | null {
    if (this.#worker !== null || this.#starts >= STARTS) return this.#worker;
    this.#starts += 1;
    try {
      const worker = this.start();
      worker.addEventListener("message", ({ data }: MessageEvent<ToPage>) => this.#hear(data));
      worker.addEventListener("error", () => this.#fail());
      this.#worker = worker;
    } catch {
      this.#worker = null;
    }
    return this.#worker;
  }

  #hear({ id, colours }: ToPage): void {
    this.#unanswered -= 1;
    this.#watch();
    const fence = this.#open.get(id);
    if (colours !== null) fence?.receive(colours);
    if (colours === null || fence?.complete === true) this.#open.delete(id);
  }

  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#unanswered > 0) this.#timer = setTimeout(() => this.#fail(), ANSWER_MS);
  }

  /** What was asked stays plain: its place in the grammar died with the worker. */
  #fail(): void {
    clearTimeout(this.#timer);
    this.#worker?.terminate();
    this.#worker = null;
    this.#unanswered = 0;
    this.#open.clear();
    this.#kept.clear();
    this.#letters = 0;
  }
}

function nameOf(language: Language, text: string): string {
  return `${language}\n${text}`;
}

function startWorker(): Colleague {
  return new Worker(workerAddress(workerFile), { type: "module", name: "highlight" });
}

/** The one of the page. */
export const highlighter = new Highlighter(startWorker);

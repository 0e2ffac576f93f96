/**
 * Where composer and dock of one session find each other: what is written, what is asked, and who
 * has the focus. Escape is decided here, and whoever wants to add words to the draft asks here.
 */
import type { SessionStore } from "../store/session.ts";

export interface ComposerHandle {
  hasText(): boolean;
  hasFocus(): boolean;
  /** Suggestions, or a message that is being changed. */
  menuOpen(): boolean;
  closeMenu(): void;
  clear(): void;
  focus(): void;
  /** Add words at the end of the draft, such as a comment on a line. */
  insert(text: string): void;
}

export interface DockHandle {
  promptOpen(): boolean;
  hasFocus(): boolean;
  /** A form within the prompt: a reason, or a changed input. */
  formOpen(): boolean;
  closeForm(): void;
  focus(): void;
  deny(): void;
}

export class Talk {
  composer: ComposerHandle | undefined;
  dock: DockHandle | undefined;
  /** When a key was last pressed in the composer. */
  typedMs = -Infinity;
  /** Prompts that were answered on this page. */
  readonly answered = new Set<string>();
}

const talks = new WeakMap<SessionStore, Talk>();

export function talkOf(store: SessionStore): Talk {
  const known = talks.get(store) ?? new Talk();
  talks.set(store, known);
  return known;
}

/**
 * What Escape does, by what is there: one table, the first line that fits wins.
 *
 * A reflex never answers a prompt unseen: it first moves the eye to it, and only a second press says
 * no. A draft is only cleared while somebody is in it, so that Escape stops a turn from anywhere else.
 */
export interface Situation {
  /** `ours`: a list of suggestions or a form in the dock. `other`: it sees to Escape by itself. */
  readonly menu: "none" | "ours" | "other";
  /** The focus is in the dock, and a prompt is open. */
  readonly inPrompt: boolean;
  /** The focus is in the composer, and something stands there. */
  readonly inDraft: boolean;
  readonly promptOpen: boolean;
  readonly running: boolean;
}

export type Escape = "nothing" | "leave" | "close" | "deny" | "clear" | "to-prompt" | "interrupt";

export function escapeDoes(now: Situation): Escape {
  if (now.menu === "other") return "leave";
  if (now.menu === "ours") return "close";
  if (now.inPrompt && now.promptOpen) return "deny";
  if (now.inDraft) return "clear";
  if (now.promptOpen) return "to-prompt";
  return now.running ? "interrupt" : "nothing";
}

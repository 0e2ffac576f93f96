/**
 * The latest conversation of a folder, by its name.
 *
 * An agent that is only told to go on says nothing of what was said before, and would take up a
 * conversation that another session has open. Where the gateway knows the conversation, both are mended.
 */
import { type Listed, conversations } from "../history/conversations.ts";
import type { Draft } from "./start-form.ts";

export type Begun =
  | { readonly draft: Draft }
  /** It is open already: here. */
  | { readonly session: string };

export async function begun(
  draft: Draft,
  kind: string, // whose history to look into; "": the agent has none
  find: (kind: string, beforeMs: number, cwd: string) => Promise<Listed> = conversations,
): Promise<Begun> {
  if (draft.start !== "continue" || kind === "") return { draft };
  // without an answer the agent finds it itself
  const known = await find(kind, 0, draft.cwd.trim()).catch(() => undefined);
  const latest = known?.conversations[0];
  if (latest === undefined) return { draft };
  if (latest.session !== "" && !draft.fork) return { session: latest.session };
  return { draft: { ...draft, start: "resume", resume: latest.id } };
}

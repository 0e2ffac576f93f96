/**
 * The latest conversation of a folder, by its name.
 *
 * An agent that is only told to go on says nothing of what was said before, and would take up a
 * conversation that another session has open. Where the gateway knows the conversation, both are mended.
 */
import { CLAUDE, type Conversation, conversations } from "../history/conversations.ts";
import type { Draft } from "./start-form.ts";

export type Begun =
  | { readonly draft: Draft }
  /** It is open already: here. */
  | { readonly session: string };

export async function begun(
  draft: Draft,
  find: (cwd: string) => Promise<readonly Conversation[]> = (cwd) => conversations(0, cwd),
): Promise<Begun> {
  if (draft.start !== "continue" || draft.agent !== CLAUDE) return { draft };
  const known = await find(draft.cwd.trim()).catch(() => []); // then the agent finds it itself
  const [latest] = known;
  if (latest === undefined) return { draft };
  if (latest.session !== "" && !draft.fork) return { session: latest.session };
  return { draft: { ...draft, start: "resume", resume: latest.id } };
}

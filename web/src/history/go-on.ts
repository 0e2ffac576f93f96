/** Going on with a conversation: in it, in a copy, or just keeping it. */
import { wordsOf } from "../link/errors.ts";
import { navigate } from "../routes.ts";
import type { App } from "../store/app.ts";
import { startWith } from "../panels/start-with.ts";
import { type Conversation, imported } from "./conversations.ts";

type Kept = Pick<Conversation, "id" | "agent">;

export async function keep(app: App, one: Kept): Promise<void> {
  try {
    navigate({ view: "session", session: await imported(one) });
  } catch (error) {
    app.ui.toast(`It could not be imported: ${wordsOf(error)}.`, "error");
  }
}

/** Asks first: where it goes on is somebody's folder, and an agent is started in it. */
export function goOn(app: App, { id, agent, cwd }: Conversation, fork: boolean): void {
  startWith({ start: "resume", resume: id, cwd, fork, agent });
  app.ui.show("new-session");
}

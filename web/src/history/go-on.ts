/** Going on with a conversation: in it, in a copy, or just keeping it. */
import { wordsOf } from "../link/errors.ts";
import { navigate } from "../routes.ts";
import type { App } from "../store/app.ts";
import { startWith } from "../panels/start-with.ts";
import { CLAUDE, imported } from "./conversations.ts";

export async function keep(app: App, id: string): Promise<void> {
  try {
    navigate({ view: "session", session: await imported(id) });
  } catch (error) {
    app.ui.toast(`It could not be imported: ${wordsOf(error)}.`, "error");
  }
}

/** Asks first: where it goes on is somebody's folder, and an agent is started in it. */
export function goOn(app: App, id: string, cwd: string, fork: boolean): void {
  startWith({ start: "resume", resume: id, cwd, fork, agent: CLAUDE });
  app.ui.show("new-session");
}

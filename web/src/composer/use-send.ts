import { useCallback } from "react";
import { useApp } from "../parts/use-store.ts";
import type { Content } from "../protocol.gen.ts";
import { navigate } from "../routes.ts";
import type { App } from "../store/app.ts";
import type { SessionStore } from "../store/session.ts";
import { type Does, slashDoes } from "./slash.ts";
import type { Agent } from "./use-agent.ts";
import type { Attachments } from "./use-attachments.ts";

export type SendMode = "auto" | "queue" | "steer";

/** Bytes of a message that goes to the gateway in one piece; more has to go as a file. */
const MOST_BYTES = 800_000;

/** Says what is written. True if it is done with, and the draft can go. */
export function useSend(
  store: SessionStore,
  agent: Agent,
  attachments: Attachments,
  mode: SendMode,
): (text: string) => boolean {
  const app = useApp();
  return useCallback(
    (text) => {
      const words = text.trim();
      if (words === "" && attachments.all.length === 0) return false;
      if (attachments.busy) {
        app.ui.toast("A file is still being uploaded.");
        return false;
      }
      if (attachments.all.length === 0) {
        const does = slashDoes(words, agent);
        if (does.does !== "send") return carriesOut(app, store, does);
        return sends(app, store, [{ type: "text", text: does.text }], mode);
      }
      const files = attachments.all.flatMap((one) => one.content ?? []);
      const first: Content[] = words === "" ? [] : [{ type: "text", text: words }];
      return sends(app, store, [...first, ...files], mode);
    },
    [app, store, agent, attachments, mode],
  );
}

export function fits(content: readonly Content[]): boolean {
  return new Blob([JSON.stringify(content)]).size <= MOST_BYTES;
}

function sends(app: App, store: SessionStore, content: Content[], mode: SendMode): boolean {
  if (!fits(content)) {
    app.ui.toast("This is too long for one message. Attach it as a file instead.", "error");
    return false;
  }
  const running = store.view?.status === "running";
  return app.send(store.session, content, running ? mode : "auto") !== "";
}

/** A line that is not for the agent. */
function carriesOut(app: App, store: SessionStore, does: Exclude<Does, { does: "send" }>): boolean {
  switch (does.does) {
    case "panel":
      app.ui.show(does.panel);
      return true;
    case "tab":
      app.ui.inspect(does.tab);
      app.settings.set({ inspector: true });
      return true;
    case "history":
      navigate({ view: "history" });
      return true;
    case "clear":
      app.ui.clear(store.session, store.last);
      return true;
    case "tell":
      void app.attempt(store.session, does.command);
      return true;
    case "say":
      app.ui.toast(does.text);
      return false;
  }
}

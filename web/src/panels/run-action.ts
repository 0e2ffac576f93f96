/** Carries out what a key or the palette asked for. */
import { setAll } from "../parts/opened.ts";
import { focusPrompt } from "../notify/focus-prompt.ts";
import { navigate, type Route } from "../routes.ts";
import type { App } from "../store/app.ts";
import { attention } from "../store/attention.ts";

export function runAction(app: App, id: string, route: Route): void {
  const session = route.view === "session" ? route.session : "";
  switch (id) {
    case "palette":
    case "help":
    case "keys":
    case "settings":
    case "new-session":
    case "rename":
    case "export":
      app.ui.show(app.ui.panel === id ? "" : id);
      break;
    case "board":
    case "history":
    case "access":
    case "devices":
      navigate({ view: id });
      break;
    case "next-waiting":
      nextWaiting(app, session);
      break;
    case "resync":
      app.link.resync();
      break;
    case "theme": {
      const order = ["system", "dark", "light"] as const;
      const at = order.indexOf(app.settings.now.theme);
      app.settings.set({ theme: order[(at + 1) % order.length] ?? "system" });
      break;
    }
    default:
      if (session !== "") inSession(app, id, session);
  }
}

function inSession(app: App, id: string, session: string): void {
  const store = app.session(session);
  switch (id) {
    case "composer":
      focusComposer();
      break;
    case "prompt":
      focusPrompt(store.transcript.prompts[0]?.id ?? "");
      break;
    case "inspector":
      if (matchMedia("(min-width: 1200px)").matches) {
        app.settings.set({ inspector: !app.settings.now.inspector });
      } else {
        app.ui.slide(app.ui.drawer === "inspector" ? "" : "inspector");
      }
      break;
    case "clear":
      app.ui.clear(session, store.last);
      break;
    case "toggle-tools":
      setAll(`${session}:`);
      break;
    case "previous-turn":
      jump(-1);
      break;
    case "next-turn":
      jump(1);
      break;
    case "latest": {
      const box = document.querySelector<HTMLElement>("[role='log']");
      box?.scrollTo(0, box.scrollHeight);
      break;
    }
    case "interrupt":
      void app.attempt(session, { type: "interrupt" });
      break;
    default:
  }
}

/** The next one that needs somebody, after the one that is shown. */
function nextWaiting(app: App, session: string): void {
  const waiting = app.listing.rows.filter((one) => attention(one) === "waiting");
  const at = waiting.findIndex((one) => one.session === session);
  const next = waiting[(at + 1) % Math.max(1, waiting.length)];
  if (next === undefined) {
    app.ui.toast("Nothing needs you now.");
    return;
  }
  navigate({ view: "session", session: next.session });
  focusPrompt("");
}

/** From one message of a person's to the next. */
function jump(step: 1 | -1): void {
  const box = document.querySelector<HTMLElement>("[role='log']");
  if (box === null) return;
  const edge = box.getBoundingClientRect().top;
  const turns = [...box.querySelectorAll<HTMLElement>("article[data-stage]")];
  const places = turns.map((one) => one.getBoundingClientRect().top - edge);
  const found =
    step > 0 ? places.findIndex((top) => top > 24) : places.findLastIndex((top) => top < -8);
  turns[found]?.scrollIntoView({ block: "start" });
}

/** Where one writes, in the session that is shown. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>("textarea[aria-label='Message']")?.focus();
}

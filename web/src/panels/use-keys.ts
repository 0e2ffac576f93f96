import { useEffect } from "react";
import { actionFor } from "../keys/actions.ts";
import { chordOf } from "../keys/chord.ts";
import { MAC } from "../keys/mac.ts";
import { useApp } from "../parts/use-store.ts";
import type { Route } from "../routes.ts";
import { runAction } from "./run-action.ts";

/** The keys that work everywhere on the page. */
export function useKeys(route: Route): void {
  const app = useApp();
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const now = { session: route.view === "session", typing: isTyping(event.target) };
      const found = actionFor(chordOf(event, MAC), app.settings.now.keys, now);
      if (found === undefined) return;
      // over a panel only the palette's own keys count
      if (app.ui.panel !== "" && found.id !== app.ui.panel) return;
      event.preventDefault();
      runAction(app, found.id, route);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [app, route]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

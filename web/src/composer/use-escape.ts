import { useEffect } from "react";
import { useApp } from "../parts/use-store.ts";
import type { App } from "../store/app.ts";
import type { SessionStore } from "../store/session.ts";
import { type Situation, escapeDoes } from "./escape.ts";
import { talkOf } from "./talk.ts";

/** Menus and dialogs close themselves. */
const POPUP = 'dialog[open], [role="dialog"], [role="alertdialog"], [role="menu"]';

/** Escape anywhere on the page of a session. */
export function useEscape(store: SessionStore): void {
  const app = useApp();
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      if (does(app, store)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [app, store]);
}

/** Whether it did something. */
function does(app: App, store: SessionStore): boolean {
  const { composer, dock } = talkOf(store);
  switch (escapeDoes(situation(app, store))) {
    case "nothing":
    case "leave":
      return false;
    case "close":
      if (dock?.formOpen() === true && dock.hasFocus()) dock.closeForm();
      else composer?.closeMenu();
      return true;
    case "deny":
      dock?.deny();
      return true;
    case "clear":
      composer?.clear();
      return true;
    case "to-prompt":
      dock?.focus();
      return true;
    case "interrupt":
      void app.attempt(store.session, { type: "interrupt", turn: store.view?.turn ?? "" });
      return true;
  }
}

function situation(app: App, store: SessionStore): Situation {
  const { composer, dock } = talkOf(store);
  const covered = app.ui.panel !== "" || app.ui.drawer !== "";
  const other = covered || document.querySelector(POPUP) !== null;
  const inPrompt = dock?.hasFocus() === true;
  const inComposer = composer?.hasFocus() === true;
  const ours = (inPrompt && dock.formOpen()) || composer?.menuOpen() === true;
  return {
    menu: other ? "other" : ours ? "ours" : "none",
    inPrompt,
    inDraft: inComposer && composer.hasText(),
    promptOpen: dock?.promptOpen() === true,
    running: store.view?.status === "running",
  };
}

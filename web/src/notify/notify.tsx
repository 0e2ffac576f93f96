import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { useApp, useKey, useRows, useSettings } from "../parts/use-store.ts";
import { type Route, navigate, useRoute } from "../routes.ts";
import { titleOf } from "../store/attention.ts";
import { waitingCount } from "../store/grouping.ts";
import { Announcer } from "./announcer.tsx";
import { focusPrompt } from "./focus-prompt.ts";
import { Notifications, type Show, pageTitle } from "./notifications.ts";
import { ring } from "./sound.ts";

/** What a view is called in the window's title; the board is the page itself. */
const NAMES: Partial<Record<Route["view"], string>> = {
  history: "History",
  access: "Access",
  devices: "Devices",
};

/** Everything that reaches somebody who does not look here: title, badge, notifications, sound. */
export function Notify(): ReactNode {
  const app = useApp();
  const rows = useRows();
  const route = useRoute();
  const settings = useSettings();
  const visible = useVisible();
  const waiting = useKey(app.listing.emitter, "waiting", () => app.listing.waiting);
  const count = waitingCount(rows);
  const here = route.view === "session" ? route.session : "";
  const row = rows.find((one) => one.session === here);
  const name = row === undefined ? (NAMES[route.view] ?? "") : titleOf(row);
  const [told] = useState(
    () =>
      new Notifications(
        systemNotification,
        (one) => {
          window.focus();
          navigate({ view: "session", session: one.session });
          focusPrompt(one.prompt.id);
        },
        () => {
          if (app.settings.now.sound) ring();
        },
      ),
  );

  useEffect(() => {
    document.title = pageTitle(count, name);
  }, [count, name]);
  useEffect(() => setBadge(count), [count]);
  useEffect(() => {
    // the board shows every prompt, and can answer it
    const seen = (session: string): boolean =>
      visible && (session === here || route.view === "board");
    told.update(waiting, seen, settings.notifications);
    if (visible && here !== "") told.withdraw(waiting, here);
  }, [told, waiting, visible, here, route.view, settings.notifications]);
  return <Announcer view={name || "Sessions"} />;
}

const systemNotification: Show = (told, clicked) => {
  if (!("Notification" in window) || Notification.permission !== "granted") return undefined;
  try {
    const one = new Notification(told.title, { body: told.body, tag: told.tag });
    one.addEventListener("click", () => {
      clicked();
      one.close();
    });
    return one;
  } catch {
    return undefined; // some phones have them for service workers only
  }
};

function setBadge(count: number): void {
  if (!("setAppBadge" in navigator)) return;
  const set = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
  set.catch(() => {}); // only an installed page has one
}

/** A window beside the one that is worked in is seen, too: the focus does not count. */
function useVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.visibilityState === "visible",
  );
}

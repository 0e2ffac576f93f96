/** Which view is shown: the address says so, and nothing else does. */
import { useSyncExternalStore } from "react";
import { basePath } from "./link/base.ts";

export type Route =
  | { readonly view: "board" }
  | { readonly view: "session"; readonly session: string }
  | { readonly view: "history" }
  | { readonly view: "panel"; readonly panel: "settings" | "help" | "new-session" }
  | { readonly view: "access" }
  | { readonly view: "devices" };

export function routeOf(path: string): Route {
  const [first = "", second = ""] = path.split("/").filter((one) => one !== "");
  switch (first) {
    case "s":
      return second === "" ? { view: "board" } : { view: "session", session: second };
    case "settings":
    case "help":
      return { view: "panel", panel: first };
    case "new":
      return { view: "panel", panel: "new-session" };
    case "history":
    case "access":
    case "devices":
      return { view: first };
    default:
      return { view: "board" };
  }
}

export function pathOf(route: Route): string {
  switch (route.view) {
    case "board":
      return "/";
    case "session":
      return `/s/${route.session}`;
    case "panel":
      return route.panel === "new-session" ? "/new" : `/${route.panel}`;
    default:
      return `/${route.view}`;
  }
}

export function hrefOf(route: Route): string {
  return basePath() + pathOf(route);
}

const listeners = new Set<() => void>();
let shown = "";
let current: Route = { view: "board" };

function read(): Route {
  const path = location.pathname.slice(basePath().length);
  if (path !== shown) {
    shown = path;
    current = routeOf(path);
  }
  return current;
}

export function navigate(route: Route, replace = false): void {
  const to = hrefOf(route);
  if (to === location.pathname) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  for (const one of [...listeners]) one();
}

export function useRoute(): Route {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    addEventListener("popstate", listener);
    return () => {
      listeners.delete(listener);
      removeEventListener("popstate", listener);
    };
  }, read);
}

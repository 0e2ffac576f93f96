import { expect, test } from "vitest";
import { type Route, pathOf, routeOf } from "./routes.ts";

test.each<[string, Route]>([
  ["/", { view: "board" }],
  ["/s/ses_1", { view: "session", session: "ses_1" }],
  ["/history", { view: "history" }],
  ["/access", { view: "access" }],
  ["/devices", { view: "devices" }],
  ["/settings", { view: "panel", panel: "settings" }],
  ["/help", { view: "panel", panel: "help" }],
  ["/new", { view: "panel", panel: "new-session" }],
])("%s is a view, and has that address", (path, route) => {
  expect(routeOf(path)).toEqual(route);
  expect(pathOf(route)).toBe(path);
});

test.each(["/s", "/s/", "/nowhere", "//"])("%s is the board", (path) => {
  expect(routeOf(path)).toEqual({ view: "board" });
});

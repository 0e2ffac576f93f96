import { expect, test } from "vitest";
import { type Known, slashCommands, slashDoes } from "./slash.ts";

const KNOWN: Known = {
  listed: { cost: "local", clear: "local", review: "prompt", login: "ui", "team:plan": "prompt" },
  commands: new Set(["set_model", "set_mode", "set_effort", "set_fast"]),
  fast: false,
};
const NOTHING: Known = { listed: {}, commands: new Set(), fast: false };

test.each([
  ["/help", { does: "panel", panel: "help" }],
  ["/config", { does: "panel", panel: "settings" }],
  ["/keybindings-help", { does: "panel", panel: "keys" }],
  ["/keys", { does: "panel", panel: "keys" }],
  ["/model", { does: "panel", panel: "settings" }],
  ["/model opus ", { does: "tell", command: { type: "set_model", model: "opus" } }],
  ["/mode plan", { does: "tell", command: { type: "set_mode", mode: "plan" } }],
  ["/effort high", { does: "tell", command: { type: "set_effort", effort: "high" } }],
  ["/fast", { does: "tell", command: { type: "set_fast", on: true } }],
  ["/fast off", { does: "tell", command: { type: "set_fast", on: false } }],
  ["/rename A boat", { does: "tell", command: { type: "rename", title: "A boat" } }],
  ["/mcp", { does: "tab", tab: "mcp" }],
  ["/resume", { does: "history" }],
])("%s belongs to this page", (text, does) => {
  expect(slashDoes(text, KNOWN)).toEqual(does);
});

test.each([
  "/cost",
  "/clear",
  "/unheard-of",
  "/team:plan now",
  "/",
  "/usr/bin/env is a path",
  "hi",
])("%s is sent as it is", (text) => {
  expect(slashDoes(text, KNOWN)).toEqual({ does: "send", text });
});

test("two slashes hand to the agent what would be ours", () => {
  expect(slashDoes("//help me", KNOWN)).toEqual({ does: "send", text: "/help me" });
});

test("an agent without a command of that name has its view cleared instead", () => {
  expect(slashDoes("/clear", NOTHING)).toEqual({ does: "clear" });
});

test("what an agent cannot be told is said, not sent", () => {
  expect(slashDoes("/fast", NOTHING)).toEqual({ does: "panel", panel: "settings" });
  expect(slashDoes("/mode plan", NOTHING)).toMatchObject({ does: "say" });
});

test("commands of the agent's own terminal are not offered", () => {
  const about = new Map([["cost", { about: "What it cost", hint: "" }]]);
  const offered = slashCommands(KNOWN, about);
  const names = offered.map((one) => one.name);
  expect(names).not.toContain("login");
  expect(offered[0]).toEqual({ name: "cost", group: "agent", about: "What it cost", hint: "" });
  expect(names.filter((one) => one === "clear")).toHaveLength(1);
  expect(new Set(names).size).toBe(names.length);
});

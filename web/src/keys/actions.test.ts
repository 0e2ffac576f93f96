import { expect, test } from "vitest";
import { ACTIONS, actionFor, keysOf, refused } from "./actions.ts";

const here = { session: true, typing: false };

test("no two actions of one place have the same keys", () => {
  for (const one of ACTIONS.filter((each) => each.keys !== "")) {
    expect(refused(one.id, one.keys, {}), one.id).toBe("");
  }
});

test("chosen keys take the place of the usual ones", () => {
  const chosen = { board: "Alt+X" };
  expect(keysOf("board", chosen)).toBe("Alt+X");
  expect(actionFor("Alt+X", chosen, here)?.id).toBe("board");
  expect(actionFor("Alt+B", chosen, here)).toBeUndefined();
});

test("a letter is text while somebody types", () => {
  expect(actionFor("?", {}, here)?.id).toBe("help");
  expect(actionFor("?", {}, { ...here, typing: true })).toBeUndefined();
  expect(actionFor("Mod+K", {}, { ...here, typing: true })?.id).toBe("clear");
});

test("what is about a session does nothing elsewhere", () => {
  expect(actionFor("Mod+K", {}, { session: false, typing: false })).toBeUndefined();
});

test("single letters answer prompts only where the prompt has the focus", () => {
  expect(actionFor("Y", {}, here)).toBeUndefined();
});

test.each([
  ["board", "Mod+C", "browser"],
  ["board", "B", "letter"],
  ["board", "Mod+/", "Commands"],
  ["send", "Mod+Enter", ""],
])("%s cannot become %s", (id, keys, why) => {
  const told = refused(id, keys, {});
  if (why === "") expect(told).toBe("");
  else expect(told).toContain(why);
});

import { expect, test } from "vitest";
import { type Pressed, chordOf, spoken } from "./chord.ts";

const press = (change: Partial<Pressed>): Pressed => ({
  key: "a",
  code: "KeyA",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...change,
});

test.each<[Partial<Pressed>, boolean, string]>([
  [{ key: "k", code: "KeyK", ctrlKey: true }, false, "Mod+K"],
  [{ key: "k", code: "KeyK", metaKey: true }, true, "Mod+K"],
  [{ key: "k", code: "KeyK", ctrlKey: true }, true, "Ctrl+K"],
  [{ key: "˜", code: "KeyN", altKey: true }, true, "Alt+N"],
  [{ key: "?", code: "Minus", shiftKey: true }, false, "?"],
  [{ key: "Enter", code: "Enter", shiftKey: true }, false, "Shift+Enter"],
  [{ key: "B", code: "KeyB", shiftKey: true, ctrlKey: true }, false, "Mod+Shift+B"],
  [{ key: "Shift", code: "ShiftLeft", shiftKey: true }, false, ""],
])("%j on a Mac: %s is %s", (change, mac, chord) => {
  expect(chordOf(press(change), mac)).toBe(chord);
});

test("keys are said as they are printed", () => {
  expect(spoken("Mod+K", true)).toBe("⌘K");
  expect(spoken("Mod+K", false)).toBe("Ctrl+K");
  expect(spoken("Alt+ArrowUp", false)).toBe("Alt+↑");
  expect(spoken("Mod++", false)).toBe("Ctrl++");
});

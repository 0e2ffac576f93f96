import { expect, test } from "vitest";
import { NO_SUBJECT, isCut, kindOf, subjectOf } from "./tool-kinds.ts";

test("a recorded kind counts, whatever the tool is called", () => {
  expect(kindOf("read", "Bash")).toBe("read");
  expect(kindOf("other", "Edit")).toBe("other");
});

test.each(["", undefined] as const)("a call whose kind is %j has the kind of its name", (kind) => {
  expect(kindOf(kind, "Bash")).toBe("execute");
  expect(kindOf(kind, "mcp__files__read")).toBe("mcp");
  expect(kindOf(kind, "shell")).toBe("other");
  expect(kindOf(kind, "constructor")).toBe("other");
});

test("a subject has all its fields", () => {
  expect(subjectOf(undefined)).toBe(NO_SUBJECT);
  expect(subjectOf({ command: "ls" })).toEqual({ ...NO_SUBJECT, command: "ls" });
  expect(isCut("ls …")).toBe(true);
  expect(isCut("ls…")).toBe(false);
});

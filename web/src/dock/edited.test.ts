import { expect, test } from "vitest";
import { fieldsIn, fromFields, fromJson } from "./edited.ts";

const INPUT = { command: "ls", timeout: 5, nested: { a: [1] } };

test("an input that nobody changed comes back as it was", () => {
  expect(fromFields(fieldsIn(INPUT))).toEqual({ input: INPUT, problem: "" });
  expect(fromJson(JSON.stringify(INPUT))).toEqual({ input: INPUT, problem: "" });
});

test("a text stays a text, even one that looks like a number", () => {
  const fields = fieldsIn(INPUT).map((one) =>
    one.name === "command" ? { ...one, text: "5" } : one,
  );
  expect(fromFields(fields).input).toMatchObject({ command: "5" });
});

test.each(["5", "[]", "null", "{", '"text"'])("%s is no input of a tool", (text) => {
  expect(fromJson(text).problem).not.toBe("");
});

test("a field that is not JSON any more is named", () => {
  const fields = fieldsIn(INPUT).map((one) => (one.plain ? one : { ...one, text: "{" }));
  expect(fromFields(fields).problem).toBe("timeout is not JSON.");
});

test("what is too long is refused before it is sent", () => {
  expect(fromJson(JSON.stringify({ a: "x".repeat(800_000) })).problem).toMatch(/too long/);
});

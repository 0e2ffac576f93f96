import { expect, test } from "vitest";
import { leading } from "./values.ts";

const WHOLE = '{"file_path": "/a \\"b\\".py", "limit": 12, "all": true, "content": "x\\ny"}';

test("of a text that is not whole yet, the fields that are there can be read", () => {
  expect(leading(WHOLE)).toEqual({ file_path: '/a "b".py', limit: 12, all: true, content: "x\ny" });
  expect(leading(WHOLE.slice(0, -3))).toEqual({ file_path: '/a "b".py', limit: 12, all: true });
  expect(leading('{"file_path": "/a')).toEqual({});
  expect(leading('{"limit": 1')).toEqual({});
  expect(leading('{"edits": [1], "path": "x"}')).toEqual({});
  expect(leading("[1")).toEqual({});
});

test("any part of an input can be read, and never says what the whole does not", () => {
  const whole = JSON.parse(WHOLE) as Record<string, unknown>;
  for (let end = 0; end <= WHOLE.length; end += 1) {
    for (const [name, value] of Object.entries(leading(WHOLE.slice(0, end)))) {
      expect(whole[name]).toBe(value);
    }
  }
});

import { expect, test } from "vitest";
import type { NoteItem } from "../store/items.ts";
import { logInOf } from "./log-in.ts";

function notice(text: string): NoteItem {
  return {
    id: text,
    parent: "",
    atMs: 0,
    seq: 0,
    past: false,
    kind: "note",
    note: "notice",
    text,
    level: "info",
    event: {},
    blob: "",
  };
}

test("the newest address is the one to log in at", () => {
  const all = [
    notice("log in to harbour: https://a.example/one?x=1"),
    notice("log in to other: https://b.example/"),
    notice("log in to harbour on the machine the agent runs on: http://127.0.0.1:1/two?y=a%3A+b"),
  ];
  expect(logInOf("harbour", all)).toEqual({
    address: "http://127.0.0.1:1/two?y=a%3A+b",
    onItsMachine: true,
  });
  expect(logInOf("other", all)).toEqual({ address: "https://b.example/", onItsMachine: false });
});

test.each(["log in to harbour", "log in to harbour: javascript:alert(1)", "harbour: https://a/"])(
  "%s leads nowhere",
  (text) => {
    expect(logInOf("harbour", [notice(text)])).toBeUndefined();
  },
);

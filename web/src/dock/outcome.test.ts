import { expect, test } from "vitest";
import type { SessionEvent } from "../protocol.gen.ts";
import { SessionStore } from "../store/session.ts";
import { endingOf, endingWords } from "./outcome.ts";

function storeWith(...events: SessionEvent[]): SessionStore {
  const store = new SessionStore("s", (run) => run());
  store.begin(1, events.length, 0, false);
  events.forEach((event, at) =>
    store.event({ type: "event", session: "s", epoch: 1, seq: at + 1, at_ms: at, event }),
  );
  return store;
}

test.each([
  [{ how: "allowed", by: "me" }, "Allowed on another device"],
  [{ how: "allowed", by: "anna", edited: true }, "Allowed by anna, with changes"],
  [{ how: "denied", by: "anna" }, "Denied by anna"],
  [{ how: "answered", by: "me" }, "Answered on another device"],
  [{ how: "cancelled", by: "" }, "The agent took it back"],
  [undefined, "No longer asked"],
])("%j is said", (ending, words) => {
  expect(endingWords(ending, "me")).toBe(words);
});

test("how a permission ended is found at its tool", () => {
  const before = storeWith({
    type: "permission.requested",
    prompt: "p",
    tool: "Bash",
    input: {},
    digest: "d",
    item: "t",
  });
  const [prompt] = before.transcript.prompts;
  const store = storeWith(
    { type: "tool.started", item: "t", name: "Bash" },
    { type: "permission.requested", prompt: "p", tool: "Bash", input: {}, digest: "d", item: "t" },
    { type: "permission.closed", prompt: "p", how: "denied", by: "anna" },
  );
  expect(prompt && endingOf(store, prompt)).toMatchObject({ how: "denied", by: "anna" });
});

test("how a question ended is found in the transcript", () => {
  const asked: SessionEvent = {
    type: "question.requested",
    prompt: "q",
    questions: [],
    digest: "d",
  };
  const [prompt] = storeWith(asked).transcript.prompts;
  const store = storeWith(asked, {
    type: "question.closed",
    prompt: "q",
    how: "declined",
    by: "me",
  });
  expect(prompt && endingOf(store, prompt)).toEqual({ how: "declined", by: "me" });
});

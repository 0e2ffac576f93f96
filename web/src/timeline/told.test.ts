import { expect, test } from "vitest";
import type { SessionEvent } from "../protocol.gen.ts";
import { Transcript } from "../store/reduce.ts";
import { entriesOf } from "./entries.ts";

const LIMITED = "You have hit your limit";
const GONE = "No conversation found with session ID: x";

/** The lines that these events make: what each is, and what it leaves to another one. */
function lines(...events: SessionEvent[]): string[] {
  const all = new Transcript();
  events.forEach((event, at) =>
    all.apply({ type: "event", session: "s", epoch: 1, seq: at + 1, at_ms: at, event }),
  );
  const { items } = all;
  return entriesOf([...items.keys()], (id) => items.get(id)).map((one) => {
    const item = items.get(one.id);
    const name = item?.kind === "note" ? item.note : (item?.kind ?? "");
    if (one.kind === "group") return "group";
    return `${name}${one.told === true ? " told" : ""}${one.limit === undefined ? "" : " limit"}`;
  });
}

function retry(attempt: number): SessionEvent {
  return { type: "retry", attempt, at_ms: 0, reason: "overloaded" };
}

function error(code: string, text: string): SessionEvent {
  return { type: "error", code, text };
}

function ended(message: string): SessionEvent {
  return { type: "turn.ended", turn: "t", reason: "error", message };
}

const started: SessionEvent = { type: "turn.started", turn: "t" };
const limit: SessionEvent = { type: "rate_limit", status: "rejected", resets_ms: 60_000 };

test("a failure of the model is one card; the end of the turn only says that it failed", () => {
  const said = "API Error: 529 overloaded";
  expect(lines(started, retry(1), retry(2), error("server_error", said), ended(said))).toEqual([
    "retry",
    "error",
    "result told",
  ]);
});

test("words of the end that stand nowhere else are said there", () => {
  expect(lines(started, error("server_error", "API Error: 529"), ended("another"))).toEqual([
    "error",
    "result",
  ]);
  expect(lines(started, ended("the budget is spent"))).toEqual(["result"]);
});

test("what an earlier turn said is said again of this one", () => {
  const turn = [started, error("server_error", "API Error: 529"), ended("API Error: 529")];
  expect(lines(...turn, ...turn)).toEqual(["error", "result told", "error", "result told"]);
});

test.each([
  ["before", [limit, error("rate_limit", LIMITED)]],
  ["after", [error("rate_limit", LIMITED), limit]],
])("a limit that was reached is said by its card, told %s it", (_, events) => {
  expect(lines(started, ...events, ended(LIMITED))).toEqual(["error limit", "result told"]);
});

test("a limit that comes near is a line of its own", () => {
  const near: SessionEvent = { ...limit, status: "allowed_warning" };
  expect(lines(started, near, error("rate_limit", LIMITED))).toEqual(["rate_limit", "error"]);
});

test("an agent that ended in a turn has one card", () => {
  expect(
    lines(
      started,
      { type: "turn.ended", turn: "t", reason: "agent_exited" },
      { type: "agent.exited", incarnation: "i", why: "exit", status: 3 },
    ),
  ).toEqual(["result told", "exited"]);
});

test("a conversation that the agent does not have any more has one card", () => {
  expect(
    lines(
      error("agent", GONE),
      { type: "conversation.lost", reason: GONE },
      { type: "agent.exited", incarnation: "i", why: "exit", status: 1, stderr_tail: GONE },
    ),
  ).toEqual(["lost"]);
});

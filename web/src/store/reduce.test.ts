import { expect, test } from "vitest";
import type { EventLine, SessionEvent } from "../protocol.gen.ts";
import type { Item, NoteItem, ToolItem, UserItem } from "./items.ts";
import { counted } from "./reduce-items.ts";
import { Transcript } from "./reduce.ts";

type Type = SessionEvent["type"];
type Of<T extends Type> = Extract<SessionEvent, { type: T }>;

/** For each event: one of its kind, what has to come before it, and what must follow from it. */
type Table = {
  [T in Type]: {
    event: Omit<Of<T>, "type">;
    before?: SessionEvent[];
    gives: (after: Transcript) => void;
  };
};

function fold(...events: SessionEvent[]): Transcript {
  const into = new Transcript();
  events.forEach((event, place) => into.apply(lineOf(event, place + 1)));
  return into;
}

function lineOf(event: SessionEvent, seq: number): EventLine {
  return { type: "event", session: "s", epoch: 1, seq, at_ms: seq * 1000, event };
}

function lastOf(from: Transcript): Item | undefined {
  return [...from.items.values()].at(-1);
}

function note(from: Transcript): NoteItem["note"] | undefined {
  const item = lastOf(from);
  return item?.kind === "note" ? item.note : undefined;
}

function tool(from: Transcript): ToolItem {
  const item = from.items.get("t");
  if (item?.kind !== "tool") throw new Error("no tool");
  return item;
}

function user(from: Transcript): UserItem {
  const item = from.items.get("k");
  if (item?.kind !== "user") throw new Error("no message");
  return item;
}

function nothing(from: Transcript): void {
  expect(from.items.size).toBe(0);
}

const said: SessionEvent = {
  type: "input.accepted",
  key: "k",
  kind: "message",
  by: "uid:0",
  fingerprint: "f",
  content: [{ type: "text", text: "hello" }],
};
const called: SessionEvent = { type: "tool.started", item: "t", name: "Bash", input: { a: 1 } };
const asked: SessionEvent = {
  type: "permission.requested",
  prompt: "p",
  tool: "Bash",
  input: {},
  digest: "d",
  item: "t",
};
const question: SessionEvent = {
  type: "question.requested",
  prompt: "p",
  questions: [{ question: "Which?", options: [{ label: "one" }], multiSelect: true }],
  digest: "d",
};

const TABLE: Table = {
  "session.opened": { event: { agent: "demo", cwd: "/w" }, gives: nothing },
  "session.changed": { event: { title: "New" }, gives: nothing },
  "session.closed": { event: {}, gives: (after) => expect(note(after)).toBe("closed") },
  "agent.started": { event: { incarnation: "i" }, gives: nothing },
  "agent.connected": { event: { incarnation: "i" }, gives: nothing },
  "agent.accepts_input": { event: { incarnation: "i" }, gives: nothing },
  "agent.ready": {
    event: { model: "m", commands: { help: "prompt" } },
    gives: (after) => expect(after.ready?.model).toBe("m"),
  },
  "agent.exited": {
    event: { incarnation: "i", why: "exit", status: 3 },
    before: [{ type: "item.started", item: "x", kind: "text" }, called, asked],
    gives: (after) => {
      expect(after.prompts).toEqual([]);
      expect(tool(after).status).toBe("partial");
      expect(after.items.get("x")).toMatchObject({ status: "partial" });
      expect(note(after)).toBe("exited");
    },
  },
  history: {
    event: { phase: "started" },
    gives: (after) => {
      expect(after.past).toBe(true);
      expect(note(after)).toBe("history");
    },
  },
  "conversation.lost": { event: {}, gives: (after) => expect(note(after)).toBe("lost") },
  "input.accepted": {
    event: { ...said },
    gives: (after) => expect(user(after)).toMatchObject({ stage: "accepted", by: "uid:0" }),
  },
  "input.dispatched": {
    event: { key: "k", incarnation: "i" },
    before: [said],
    gives: (after) => expect(user(after).stage).toBe("dispatched"),
  },
  "input.written": {
    event: { key: "k" },
    before: [said],
    gives: (after) => expect(user(after).stage).toBe("written"),
  },
  "input.consumed": {
    event: { key: "k", turn: "u" },
    before: [said],
    gives: (after) => expect(user(after)).toMatchObject({ stage: "consumed", turn: "u" }),
  },
  "input.outcome": {
    event: { key: "k", outcome: "not_delivered", reason: "why" },
    before: [said],
    gives: (after) => expect(user(after)).toMatchObject({ stage: "not_delivered", reason: "why" }),
  },
  "input.refused": {
    event: { key: "k", reason: "full" },
    before: [said],
    gives: (after) => expect(user(after)).toMatchObject({ stage: "refused", reason: "full" }),
  },
  "queue.changed": {
    event: { key: "k", content: [{ type: "text", text: "other" }] },
    before: [said],
    gives: (after) => expect(user(after).content).toEqual([{ type: "text", text: "other" }]),
  },
  "turn.started": { event: { turn: "u" }, gives: (after) => expect(after.turn).toBe("u") },
  "turn.ended": {
    event: { turn: "u", reason: "interrupted", cost_usd: 0.5 },
    before: [{ type: "turn.started", turn: "u" }],
    gives: (after) => {
      expect(after.turn).toBe("");
      expect(lastOf(after)).toMatchObject({
        kind: "result",
        reason: "interrupted",
        costUsd: 0.5,
        startedMs: 1000,
      });
    },
  },
  "item.started": {
    event: { item: "x", kind: "thinking" },
    gives: (after) => expect(after.items.get("x")).toMatchObject({ status: "open", text: "" }),
  },
  "text.done": {
    event: { item: "x", text: "all of it", status: "partial", blob: "b" },
    before: [{ type: "item.started", item: "x", kind: "text", name: "command" }],
    gives: (after) =>
      expect(after.items.get("x")).toMatchObject({
        text: "all of it",
        status: "partial",
        blob: "b",
        command: true,
      }),
  },
  "thinking.done": {
    event: { item: "x", redacted: true },
    gives: (after) =>
      expect(after.items.get("x")).toMatchObject({ kind: "thinking", redacted: true }),
  },
  "tool.started": {
    event: { item: "t", name: "Bash", input: { a: 1 } },
    before: [{ type: "item.started", item: "t", kind: "tool", name: "Bash" }],
    gives: (after) => expect(tool(after)).toMatchObject({ status: "running", input: { a: 1 } }),
  },
  "tool.result": {
    event: { item: "t", status: "error", text: "no" },
    before: [called],
    gives: (after) => expect(tool(after)).toMatchObject({ status: "error", text: "no" }),
  },
  diff: {
    event: { item: "t", path: "/a", patch: [{ lines: ["+one", "-two", " same", "+three"] }] },
    before: [called],
    gives: (after) => {
      expect(tool(after).diffs.map((one) => one.path)).toEqual(["/a"]);
      expect([after.added, after.removed]).toEqual([2, 1]);
    },
  },
  plan: {
    event: { text: "first, second" },
    gives: (after) => expect(lastOf(after)).toMatchObject({ kind: "plan", text: "first, second" }),
  },
  tasks: {
    event: { tasks: [{ content: "do it", status: "in_progress" }] },
    gives: (after) => expect(after.tasks).toMatchObject([{ id: "1", status: "in_progress" }]),
  },
  "permission.requested": {
    event: { ...asked },
    gives: (after) => expect(after.prompts).toMatchObject([{ id: "p", kind: "permission" }]),
  },
  "permission.closed": {
    event: { prompt: "p", how: "denied", by: "uid:0", message: "not now" },
    before: [called, asked],
    gives: (after) => {
      expect(after.prompts).toEqual([]);
      expect(tool(after).decision).toMatchObject({ how: "denied", message: "not now" });
    },
  },
  "permission.auto": {
    event: { tool: "Bash", decision: "deny", rule: "Bash(rm)" },
    gives: (after) => expect(note(after)).toBe("auto"),
  },
  "question.requested": {
    event: { ...question },
    gives: (after) =>
      expect(after.prompts[0]?.questions).toEqual([
        {
          key: "",
          question: "Which?",
          header: "",
          multiSelect: true,
          options: [{ label: "one", description: "" }],
        },
      ]),
  },
  "question.closed": {
    event: { prompt: "p", how: "answered", answers: { "Which?": ["one"] } },
    before: [question],
    gives: (after) => {
      expect(after.prompts).toEqual([]);
      expect(note(after)).toBe("answers");
    },
  },
  "context.compacted": {
    event: { phase: "failed" },
    gives: (after) => expect(lastOf(after)).toMatchObject({ note: "compaction", level: "warning" }),
  },
  "background.changed": {
    event: { tasks: [{ id: "1" }] },
    gives: (after) => expect(after.background).toEqual([{ id: "1", title: "1" }]),
  },
  "mode.changed": { event: { mode: "plan" }, gives: (after) => expect(note(after)).toBe("mode") },
  "model.changed": { event: { model: "m" }, gives: (after) => expect(note(after)).toBe("model") },
  retry: { event: { attempt: 2 }, gives: (after) => expect(note(after)).toBe("retry") },
  rate_limit: {
    event: { status: "rejected" },
    gives: (after) => expect(note(after)).toBe("rate_limit"),
  },
  notice: {
    event: { text: "look", level: "warning" },
    gives: (after) => expect(lastOf(after)).toMatchObject({ note: "notice", level: "warning" }),
  },
  error: {
    event: { code: "c", text: "broken" },
    gives: (after) => expect(lastOf(after)).toMatchObject({ note: "error", level: "error" }),
  },
  "alarm.raised": {
    event: { code: "mode_changed_elsewhere", text: "The mode changed." },
    gives: (after) => expect(note(after)).toBe("alarm"),
  },
  gap: { event: { reason: "lost" }, gives: (after) => expect(note(after)).toBe("gap") },
  unrecognised: {
    event: { source: "agent", text: "{}" },
    gives: (after) => expect(note(after)).toBe("unrecognised"),
  },
};

test.each(Object.entries(TABLE))("%s is shown as what it is", (type, row) => {
  const event = { type, ...row.event } as unknown as SessionEvent;
  const { gives } = row as { gives: (after: Transcript) => void };
  gives(fold(...((row as { before?: SessionEvent[] }).before ?? []), event));
});

test("what a newer gateway says is shown, never dropped", () => {
  const after = fold({ type: "weather", text: "rain" } as unknown as SessionEvent);
  expect(note(after)).toBe("unknown");
});

test("an allowed rule and an allowed rate are no news", () => {
  nothing(fold({ type: "permission.auto", tool: "Read", decision: "allow" }));
  nothing(fold({ type: "rate_limit", status: "allowed" }));
});

test("an agent that was told to end leaves no error behind", () => {
  nothing(fold({ type: "agent.exited", incarnation: "i", why: "exit", asked: true }));
});

test("what a sub-agent does stands below the call that started it", () => {
  const after = fold(
    called,
    { type: "item.started", item: "x", kind: "text", parent: "t" },
    { type: "item.started", item: "y", kind: "text", parent: "not here" },
  );
  expect(after.children.get("t")).toEqual(["x"]);
  // and below one that is not here yet, which is over with its turn
  expect(after.children.get("")).toEqual(["t", "not here"]);
  expect(after.children.get("not here")).toEqual(["y"]);
  expect(after.items.get("not here")).toMatchObject({ name: "Agent", status: "running" });
  const over = fold(
    { type: "item.started", item: "y", kind: "text", parent: "not here" },
    { type: "turn.ended", turn: "" },
  );
  expect(over.items.get("not here")).toMatchObject({ status: "ok" });
});

test("lines of a new file are all counted, however few of them were sent", () => {
  const patch = [
    { oldStart: 0, oldLines: 0, newStart: 1, newLines: 900, lines: ["+a", "\\ 899 more"] },
  ];
  expect(counted(patch)).toEqual({ added: 900, removed: 0 });
});

test("what the agent says right now is known while it says it", () => {
  const started = (kind: "text" | "thinking", parent = ""): SessionEvent => ({
    type: "item.started",
    item: kind,
    kind,
    parent,
  });
  expect(fold(started("thinking")).saying).toBe("thinking");
  expect(fold(started("thinking"), started("text")).saying).toBe("text");
  expect(fold(started("text"), { type: "text.done", item: "text", text: "x" }).saying).toBe("");
  expect(fold(called, started("text", "t")).saying).toBe("");
});

test("a tool that ends with a turn that was stopped was stopped, a denied one was denied", () => {
  const failed: SessionEvent = { type: "tool.result", item: "t", status: "error", text: "x" };
  const stop: SessionEvent = { type: "turn.ended", turn: "", reason: "interrupted" };
  expect(fold(called, failed, stop).items.get("t")).toMatchObject({ stopped: true });
  const done: SessionEvent = { type: "turn.ended", turn: "", reason: "done" };
  expect(fold(called, failed, done).items.get("t")).toMatchObject({ stopped: false });
});

test("an answer or a setting is no message", () => {
  nothing(fold({ ...(said as Of<"input.accepted">), kind: "answer" }));
});

const allowed: Of<"permission.closed"> = {
  type: "permission.closed",
  prompt: "p",
  how: "allowed",
  by: "uid:0",
  edited: true,
};
const wanted: SessionEvent = { ...(asked as Of<"permission.requested">), input: { a: 1 } };
const begun: SessionEvent = { type: "item.started", item: "t", kind: "tool", name: "Bash" };

test.each([
  ["what was allowed", [called, wanted, { ...allowed, input: { a: 2 } }], { input: { a: 2 } }],
  ["also if it is told only then", [begun, wanted, { ...allowed, input: { a: 2 } }, called], {}],
  ["where all of it is", [called, wanted, { ...allowed, blob: "b" }], { inputBlob: "b" }],
])("a changed call shows %s, and what was asked", (_, events, shown) => {
  const one = tool(fold(...events));
  expect(one).toMatchObject({ asked: { a: 1 }, decision: { edited: true }, ...shown });
  expect(one.input).not.toEqual({ a: 1 });
});

test.each([
  ["nobody changed", { ...allowed, edited: false }],
  ["an older gateway called changed", allowed],
  ["was taken back", { ...allowed, how: "orphaned", edited: false } as const],
])("a call that %s shows what was asked", (_, closed) => {
  expect(tool(fold(called, wanted, closed))).toMatchObject({ input: { a: 1 }, asked: undefined });
});

test("a change of one item names that item and nothing else", () => {
  const changed: string[] = [];
  const into = new Transcript((key) => changed.push(key));
  into.apply(lineOf({ type: "item.started", item: "x", kind: "text" }, 1));
  changed.length = 0;
  into.preview(
    { type: "preview", session: "s", item: "x", since: 0, upto: 1, text: "a" },
    { text: "a", have: 1, hole: false },
  );
  expect(changed).toEqual(["item:x"]);
});

test("web_b03: a question that was declined says so on its call, and nothing else does", () => {
  const call: SessionEvent = {
    type: "tool.started",
    item: "t",
    name: "AskUserQuestion",
    input: {},
  };
  const asks = { type: "question.requested", prompt: "q", digest: "d", item: "t" } as const;
  const after = fold(
    call,
    { ...asks, questions: [] },
    { type: "question.closed", prompt: "q", how: "declined", by: "uid:0" },
  );
  expect(tool(after).decision).toMatchObject({ how: "declined", by: "uid:0" });
  expect(tool(after).runMs).toBe(3000); // the time it took somebody to decide does not count
  expect([...after.items.values()].filter((one) => one.kind === "note")).toEqual([]);
});

test("web_b17: the time in which a person is waited for is not that of the turn or sub-agent", () => {
  const agent: SessionEvent = { type: "tool.started", item: "a", name: "Agent", input: {} };
  const bash = { type: "tool.started", item: "t", name: "Bash", input: {}, parent: "a" } as const;
  const asks = { type: "permission.requested", prompt: "p", digest: "d" } as const;
  const events: [number, SessionEvent][] = [
    [0, { type: "turn.started", turn: "1" }],
    [1000, agent],
    [2000, bash],
    [3000, { ...asks, tool: "Bash", input: {}, item: "t", parent: "a" }],
    [603_000, { type: "permission.closed", prompt: "p", how: "allowed" }],
    [604_000, { type: "tool.result", item: "t" }],
    [605_000, { type: "tool.result", item: "a" }],
    [606_000, { type: "turn.ended", turn: "1" }],
  ];
  const after = new Transcript();
  events.forEach(([at_ms, event], seq) => after.apply({ ...lineOf(event, seq + 1), at_ms }));
  expect(after.items.get("a")).toMatchObject({ runMs: 1000, waitedMs: 600_000 });
  expect(tool(after)).toMatchObject({ runMs: 603_000, waitedMs: 0 });
  expect(lastOf(after)).toMatchObject({ kind: "result", waitedMs: 600_000 });
});

test("the hunks of a change are read where they are typed, and as they were written otherwise", () => {
  const lines = ["-a", "+b", "+c"];
  const patch = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 2, lines }];
  const hunks = [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 2, lines }];
  const diff = { type: "diff", item: "t", path: "a" } as const;
  for (const event of [
    { ...diff, patch },
    { ...diff, patch: "its own form", hunks },
  ]) {
    const after = new Transcript();
    after.apply({ type: "event", session: "s", seq: 1, at_ms: 1, event } as EventLine);
    expect(after.items.get("t")).toMatchObject({ diffs: [{ path: "a", patch, blob: "" }] });
    expect([after.added, after.removed]).toEqual([2, 1]);
  }
});

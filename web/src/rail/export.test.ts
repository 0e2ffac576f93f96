import { expect, test } from "vitest";
import { FakeGateway, recorded } from "../../tests/fake-gateway.ts";
import type { SessionEvent } from "../protocol.gen.ts";
import { Transcript } from "../store/reduce.ts";
import { rowOf } from "../store/rows.ts";
import { Link } from "../link/link.ts";
import { fileName, wholeLog } from "./export.ts";
import { fenced, markdownOf } from "./export-markdown.ts";

function asking(gateway: FakeGateway): Link {
  const link = new Link(
    { connection: () => {}, welcome: () => {}, message: () => {} },
    gateway.open,
  );
  link.start();
  gateway.accept();
  return link;
}

test("all of a log is read, page by page", async () => {
  const lines = recorded("team");
  const gateway = new FakeGateway(lines);
  gateway.at = lines.length;
  const link = asking(gateway);
  const events = await wholeLog(link, lines[0]?.session ?? "");
  expect(events).toEqual(lines.filter((one) => one.type === "event"));
  link.stop();
});

test("what comes while it is read is not part of it", async () => {
  const lines = recorded("talk");
  const gateway = new FakeGateway(lines);
  gateway.at = 40;
  const link = asking(gateway);
  const reading = wholeLog(link, "s");
  gateway.at = lines.length;
  const head = lines.slice(0, 40).filter((one) => one.type === "event").length;
  expect((await reading).map((one) => one.seq)).toEqual(
    Array.from({ length: head }, (_, place) => place + 1),
  );
  link.stop();
});

test("a session can be read as a document", () => {
  const transcript = new Transcript();
  for (const one of recorded("tools")) if (one.type === "event") transcript.apply(one);
  const row = rowOf({ session: "s", title: "A title", agent: "demo", cwd: "/w" });
  const text = markdownOf(transcript, row, "s");
  expect(text).toMatch(/^# A title\n\n- Session: `s`\n- Agent: demo\n- Folder: `\/w`\n/);
  expect(text).toContain("run echo hello");
  expect(text).toContain("### Bash `echo hello`");
  expect(text).toContain("*allowed*");
  expect(text).toMatch(/```diff\n[\s\S]*^\+/m);
  expect(text).toMatch(/\*done · .*s\*/);
});

test("what a sub-agent did stands quoted below its call", () => {
  const transcript = new Transcript();
  for (const one of recorded("team")) if (one.type === "event") transcript.apply(one);
  expect(markdownOf(transcript, undefined, "s")).toMatch(/^> ### Bash/m);
});

test("a call that somebody changed is told as it ran, and as it was asked", () => {
  const transcript = new Transcript();
  const events: SessionEvent[] = [
    { type: "tool.started", item: "t", name: "Bash", input: { command: "one" } },
    {
      type: "permission.requested",
      prompt: "p",
      tool: "Bash",
      input: { command: "one" },
      digest: "d",
      item: "t",
    },
    {
      type: "permission.closed",
      prompt: "p",
      how: "allowed",
      by: "token:ada",
      edited: true,
      input: { command: "two" },
    },
  ];
  events.forEach((event, at) =>
    transcript.apply({ type: "event", session: "s", epoch: 1, seq: at + 1, at_ms: at, event }),
  );
  expect(markdownOf(transcript, undefined, "s")).toContain(
    '### Bash `two` (running)\n\n*allowed*\n\n*changed by ada; the agent had asked:*\n\n```json\n{\n  "command": "one"\n}\n```',
  );
});

test("why a turn failed is told once", () => {
  const transcript = new Transcript();
  const events: SessionEvent[] = [
    { type: "error", code: "server_error", text: "Overloaded, try later." },
    { type: "turn.ended", turn: "t", reason: "error", message: "Overloaded" },
    { type: "turn.ended", turn: "u", reason: "error", message: "Overloaded" },
  ];
  events.forEach((event, at) =>
    transcript.apply({ type: "event", session: "s", epoch: 1, seq: at + 1, at_ms: at, event }),
  );
  expect(markdownOf(transcript, undefined, "s")).toContain(
    "*error: Overloaded, try later.*\n\n*error*\n\n*error · Overloaded*",
  );
});

test("a fence is longer than any inside it", () => {
  expect(fenced("a\n````\nb", "text")).toBe("`````text\na\n````\nb\n`````");
});

test.each([
  ["Fix: the/parser?", "Fix-the-parser"],
  ["../../etc", "etc"],
  ["…", "session"],
])("the file of %j is called %j", (title, name) => {
  expect(fileName(title)).toBe(name);
});

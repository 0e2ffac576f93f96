import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway } from "../../tests/fake-gateway.ts";
import { Shelf, start } from "../../tests/started.ts";
import { FIRST_MS } from "../link/backoff.ts";
import type { Command, Content } from "../protocol.gen.ts";
import { MOST_WAITING } from "./outbox.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const words = (text: string): Content[] => [{ type: "text", text }];
const WORDS = words("hello");
const soon = (): Promise<unknown> => vi.advanceTimersByTimeAsync(FIRST_MS);

function saidTo(gateway: FakeGateway): string[] {
  const texts = (command: Command): string[] =>
    command.type === "send_input"
      ? command.content.flatMap((one) => (one.type === "text" ? [one.text] : []))
      : [];
  return gateway.executed.flatMap((one) => texts(one.command));
}

test("what is sent while offline waits visibly, and is carried out once", async () => {
  const { app, gateway } = start();
  app.send("s", [...WORDS]);
  expect(app.outbox.of("s")).toMatchObject([{ state: "queued" }]);
  gateway.accept();
  await vi.advanceTimersByTimeAsync(1);
  expect(gateway.executed).toHaveLength(1);
  expect(app.outbox.of("s")).toEqual([]);
  app.stop();
});

test("what had no answer when the page was reloaded is said again under its old name", async () => {
  const shelf = new Shelf();
  const gateway = new FakeGateway();
  const first = start(shelf, gateway);
  gateway.accept();
  gateway.silent = true;
  const request = first.app.send("s", [...WORDS]);
  first.app.stop();
  gateway.silent = false;
  const second = start(shelf, gateway);
  gateway.accept();
  await vi.advanceTimersByTimeAsync(1);
  expect(gateway.executed.map((one) => one.request)).toEqual([request]);
  expect(second.app.outbox.of("s")).toEqual([]);
  second.app.stop();
});

test("a refused message stays, says why, and can be tried again under the same name", async () => {
  const { app, gateway } = start();
  gateway.accept();
  gateway.silent = true;
  const request = app.send("s", [...WORDS]);
  const [socket] = gateway.sockets;
  const ref = socket?.said.at(-1)?.["ref"];
  socket?.tell({ type: "reply", ref, error: "session_closed", message: "it is closed" });
  await vi.advanceTimersByTimeAsync(1);
  expect(app.outbox.find(request)).toMatchObject({ state: "refused", code: "session_closed" });
  gateway.silent = false;
  app.sending.retry(request);
  await vi.advanceTimersByTimeAsync(1);
  expect(app.outbox.of("s")).toEqual([]);
  expect(new Set(gateway.executed.map((one) => one.request))).toEqual(new Set([request]));
  app.stop();
});

test("what waits goes out in the order it was written in, behind what had no answer", async () => {
  const { app, gateway } = start();
  gateway.accept();
  gateway.silent = true;
  app.send("s", words("first"));
  gateway.executed.length = 0; // it was lost on the way
  gateway.cut();
  app.send("s", words("second"));
  app.send("s", words("third"));
  gateway.silent = false;
  app.link.hurry();
  gateway.accept();
  await soon();
  expect(saidTo(gateway)).toEqual(["first", "second", "third"]);
  const [socket] = gateway.sockets;
  expect(socket?.said.filter((one) => one["type"] === "submit")).toHaveLength(3);
  app.stop();
});

test("what has not left can be taken back, and nobody gets it", async () => {
  const { app, gateway, shelf } = start();
  const request = app.send("s", WORDS);
  expect(app.sending.takeBack(request)).toBe(true);
  expect(app.outbox.of("s")).toEqual([]);
  app.stop();
  const again = start(shelf, gateway);
  gateway.accept();
  await soon();
  expect(gateway.executed).toEqual([]);
  again.app.stop();
});

test("what may have left is not taken back, after a reload neither", async () => {
  const { app, gateway, shelf } = start();
  const request = app.send("s", WORDS);
  gateway.silent = true;
  gateway.accept(); // now it leaves, and no answer comes
  gateway.cut();
  expect(app.outbox.find(request)).toMatchObject({ state: "sent" });
  expect(app.sending.takeBack(request)).toBe(false);
  expect(app.sending.replace(request, words("other"))).toBe(false);
  app.stop();
  const again = start(shelf, gateway);
  expect(again.app.sending.takeBack(request)).toBe(false);
  gateway.silent = false;
  gateway.accept();
  await soon();
  expect(saidTo(gateway)).toEqual(["hello"]);
  again.app.stop();
});

test("other words go out in its place, and the old ones never", async () => {
  const { app, gateway } = start();
  const request = app.send("s", words("thimk"));
  app.send("s", words("last"));
  expect(app.sending.replace(request, words("think"))).toBe(true);
  gateway.accept();
  await soon();
  expect(saidTo(gateway)).toEqual(["think", "last"]);
  app.stop();
});

test("what is being changed stays until that is done, over a reload too", async () => {
  const first = start();
  const { gateway, shelf } = first;
  const request = first.app.send("s", words("thimk"));
  first.app.sending.rewrite(request, "thin");
  first.app.stop();
  const { app } = start(shelf, gateway);
  gateway.accept();
  await soon();
  expect(app.outbox.find(request)).toMatchObject({ state: "queued", instead: "thin" });
  expect(gateway.executed).toEqual([]);
  app.sending.rewrite(request, undefined);
  await soon();
  expect(saidTo(gateway)).toEqual(["thimk"]);
  expect(app.outbox.of("s")).toEqual([]);
  app.stop();
});

test("what is changed while the connection comes back goes out once it is done", async () => {
  const { app, gateway } = start();
  const request = app.send("s", words("thimk"));
  app.sending.rewrite(request, "thimk");
  gateway.accept();
  await soon();
  app.sending.replace(request, words("think"));
  await soon();
  expect(saidTo(gateway)).toEqual(["think"]);
  app.stop();
});

test("a message that waits in a tab and its copy is carried out once", async () => {
  const first = start();
  const { gateway, shelf, cupboard } = first;
  first.app.send("s", WORDS);
  const second = start(shelf.copy(), gateway, cupboard);
  gateway.accept();
  await soon();
  expect(saidTo(gateway)).toEqual(["hello"]);
  expect([...first.app.outbox.of("s"), ...second.app.outbox.of("s")]).toEqual([]);
  first.app.stop();
  second.app.stop();
});

test("what is taken back or changed in one tab is not sent by its copy", async () => {
  const first = start();
  const { gateway, shelf, cupboard } = first;
  const taken = first.app.send("s", words("taken"));
  const changed = first.app.send("s", words("thimk"));
  const second = start(shelf.copy(), gateway, cupboard);
  first.app.sending.takeBack(taken);
  first.app.sending.replace(changed, words("think"));
  gateway.accept();
  await soon();
  expect(saidTo(gateway)).toEqual(["think"]);
  expect(second.app.outbox.of("s")).toEqual([]);
  first.app.stop();
  second.app.stop();
});

test("what a copy has sent is not taken back here", () => {
  const first = start();
  const { shelf, cupboard, gateway } = first;
  const request = first.app.send("s", WORDS);
  gateway.refuse();
  const second = start(shelf.copy(), gateway, cupboard);
  gateway.accept(); // the copy alone is let in
  expect(first.app.sending.takeBack(request)).toBe(false);
  expect(first.app.outbox.find(request)).toMatchObject({ state: "sent" });
  first.app.stop();
  second.app.stop();
});

test("nobody says what somebody else wrote, and whether it arrived is not tried out", async () => {
  const first = start();
  const { gateway, shelf } = first;
  gateway.accept();
  gateway.silent = true;
  const open = first.app.send("s", words("sent"));
  gateway.cut(4401);
  const queued = first.app.send("s", words("queued"));
  gateway.silent = false;
  gateway.principal = "guest:ann";
  first.app.link.hurry();
  gateway.accept();
  await soon();
  for (const request of [open, queued]) {
    const told = { state: "refused", code: "another_login" };
    expect(first.app.outbox.find(request)).toMatchObject(told);
  }
  expect(saidTo(gateway)).toEqual(["sent"]); // as the first one said it, once
  first.app.stop();
  const again = start(shelf, gateway);
  gateway.accept();
  await soon();
  expect(saidTo(gateway)).toEqual(["sent"]);
  again.app.stop();
});

test("what is refused once can be taken back like one that never left", async () => {
  const { app, gateway } = start();
  const request = app.send("s", WORDS);
  gateway.silent = true;
  gateway.accept();
  const [socket] = gateway.sockets;
  const ref = socket?.said.findLast((one) => one["type"] === "submit")?.["ref"];
  socket?.tell({ type: "reply", ref, error: "busy", message: "not now" });
  await vi.advanceTimersByTimeAsync(0);
  gateway.cut();
  app.sending.retry(request);
  expect(app.sending.takeBack(request)).toBe(true);
  app.stop();
});

test("too many are refused, and push nothing out", () => {
  const { app } = start();
  for (let at = 0; at < MOST_WAITING; at += 1) app.send("s", words(String(at)));
  expect(app.send("s", words("more"))).toBe("");
  expect(app.outbox.of("s")).toHaveLength(MOST_WAITING);
  expect(app.ui.toasts).toMatchObject([{ level: "error" }]);
  app.stop();
});

test("what finds no room to be kept leaves nothing old behind", () => {
  const shelf = new Shelf();
  const { app } = start(shelf);
  const request = app.send("s", words("small"));
  app.send("s", words("x".repeat(3_000_000)));
  expect(start(shelf.copy()).app.outbox.of("s")).toMatchObject([{ request }]);
  app.sending.takeBack(request);
  app.stop();
  const again = start(shelf);
  expect(again.app.outbox.find(request)).toBeUndefined();
  again.app.stop();
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway, recorded } from "../../tests/fake-gateway.ts";
import { App } from "./app.ts";

class Shelf {
  readonly kept = new Map<string, string>();
  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.kept.set(key, value);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function start(
  shelf = new Shelf(),
  gateway = new FakeGateway(),
): { app: App; gateway: FakeGateway } {
  let ids = 0;
  const app = new App({
    open: gateway.open,
    shelf,
    cupboard: new Shelf(),
    newId: () => `web-${shelf.kept.size}-${(ids += 1)}`,
    schedule: (run) => run(),
  });
  app.start();
  return { app, gateway };
}

const WORDS = [{ type: "text", text: "hello" }] as const;

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
  app.retry(request);
  await vi.advanceTimersByTimeAsync(1);
  expect(app.outbox.of("s")).toEqual([]);
  expect(new Set(gateway.executed.map((one) => one.request))).toEqual(new Set([request]));
  app.stop();
});

test("what the log has is no longer on its way, whatever became of the answer", () => {
  const lines = recorded("talk");
  const { app, gateway } = start(new Shelf(), new FakeGateway(lines));
  gateway.accept();
  gateway.silent = true;
  const session = lines[0]?.session ?? "";
  app.following.follow(session);
  const accepted = lines.find(
    (one) => one.type === "event" && one.event.type === "input.accepted",
  ) as { event: { key: string } };
  const request = accepted.event.key.split(":").slice(2).join(":");
  app.outbox.add({
    request,
    session,
    content: [],
    mode: "auto",
    state: "sent",
    error: "",
    code: "",
  });
  gateway.play(lines.length);
  expect(app.outbox.of(session)).toEqual([]);
  app.stop();
});

test("a command that is refused is said where everybody looks", async () => {
  const { app, gateway } = start();
  gateway.accept();
  gateway.silent = true;
  const done = app.attempt("s", { type: "archive" });
  const [socket] = gateway.sockets;
  const ref = socket?.said.at(-1)?.["ref"];
  socket?.tell({ type: "reply", ref, error: "odd", message: "not now" });
  expect(await done).toBe(false);
  expect(app.ui.toasts).toMatchObject([
    { text: expect.stringContaining("not now") as string, level: "error" },
  ]);
  app.stop();
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway, recorded } from "../../tests/fake-gateway.ts";
import { Shelf, start } from "../../tests/started.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
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

test("why an agent refused a setting is said in its own words", async () => {
  const { app, gateway } = start();
  gateway.accept();
  gateway.silent = true;
  const done = app.attempt("s", { type: "set_fast", on: true });
  const [socket] = gateway.sockets;
  const asked = socket?.said.at(-1);
  const event = { type: "input.refused", key: `uid:0:${asked?.["request"]}`, reason: "too old" };
  const line = { type: "event", session: "s", epoch: 1, seq: 1, at_ms: 1, event } as const;
  app.session("s").transcript.apply(line as never);
  socket?.tell({ type: "reply", ref: asked?.["ref"], error: "refused_by_agent", message: "" });
  expect(await done).toBe(false);
  expect(app.ui.toasts).toMatchObject([{ text: "The agent refused it: too old" }]);
  app.stop();
});

test("after a lost connection the page asks whether it is still the one the gateway has", async () => {
  const isCurrent = (): Promise<boolean> => Promise.resolve(false);
  const { app, gateway } = start(new Shelf(), new FakeGateway(), new Shelf(), isCurrent);
  gateway.accept();
  await vi.advanceTimersByTimeAsync(0);
  expect(app.stale).toBe(false);
  gateway.cut();
  app.link.hurry();
  gateway.accept();
  await vi.advanceTimersByTimeAsync(0);
  expect(app.stale).toBe(true);
  app.stop();
});

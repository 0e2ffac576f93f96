import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway } from "../../tests/fake-gateway.ts";
import { FIRST_MS, MOST_MS, backoff } from "./backoff.ts";
import { codeOf } from "./errors.ts";
import { type Connection, Link } from "./link.ts";
import { ANSWER_MS, ASLEEP_MS, QUIET_MS } from "./watch.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Page {
  link: Link;
  gateway: FakeGateway;
  states: Connection[];
}

function page(isLoggedIn: () => Promise<boolean> = () => Promise.resolve(true)): Page {
  const gateway = new FakeGateway();
  const states: Connection[] = [];
  const link = new Link(
    { connection: (state) => states.push(state), welcome: () => {}, message: () => {} },
    gateway.open,
    isLoggedIn,
  );
  link.start();
  return { link, gateway, states };
}

test("it comes back by itself after a lost connection", () => {
  const { link, gateway, states } = page();
  gateway.accept();
  expect(link.state).toBe("online");
  gateway.cut();
  expect(link.state).toBe("offline");
  vi.advanceTimersByTime(FIRST_MS);
  gateway.accept();
  expect(link.state).toBe("online");
  expect(states).toEqual(["connecting", "online", "offline", "connecting", "online"]);
});

test("a04: the first message brings the key of the login, read anew for each connection", async () => {
  const gateway = new FakeGateway();
  const keys = ["old", "new"];
  const link = new Link(
    { connection: () => {}, welcome: () => {}, message: () => {} },
    gateway.open,
    () => Promise.resolve(true),
    () => Promise.resolve(keys.shift() ?? ""),
  );
  link.start();
  for (const key of ["old", "new"]) {
    gateway.accept();
    const [socket] = gateway.sockets;
    expect(socket?.said).toEqual([]); // nothing is said before the key is known
    await vi.advanceTimersByTimeAsync(0);
    expect(socket?.said.slice(0, 2)).toMatchObject([{ type: "auth", key }, { type: "hello" }]);
    expect(link.state).toBe("online");
    link.resync();
  }
  link.stop();
});

test("each try waits longer than the last, up to a bound, and never the same for everybody", () => {
  const least = Array.from({ length: 12 }, (_, tries) => backoff(tries, 0));
  const most = Array.from({ length: 12 }, (_, tries) => backoff(tries, 1));
  expect(most.slice(0, 4)).toEqual([250, 500, 1000, 2000]);
  expect(Math.max(...most)).toBe(MOST_MS);
  expect(least).toEqual(most.map((one) => one / 2));
});

test("somebody who comes back does not wait for the next try", () => {
  const { link, gateway } = page();
  for (let tries = 0; tries < 6; tries += 1) {
    gateway.refuse();
    vi.advanceTimersByTime(MOST_MS);
  }
  gateway.refuse();
  expect(link.state).toBe("offline");
  link.hurry();
  gateway.accept();
  expect(link.state).toBe("online");
});

test("what has no answer is said again under the same name, and carried out once", async () => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.silent = true;
  const done = link.submit("s", { type: "rename", title: "t" }, "request-1");
  const asked = link.ask("list");
  gateway.cut();
  gateway.silent = false;
  link.hurry();
  gateway.accept();
  await expect(done).resolves.toMatchObject({ duplicate: true });
  await asked;
  expect(gateway.executed.map((one) => one.request)).toEqual(["request-1"]);
});

test("what is asked while offline is asked as soon as it is online, and only once", async () => {
  const { link, gateway } = page();
  const asked = link.ask("list");
  gateway.accept();
  await asked;
  const [socket] = gateway.sockets;
  expect(socket?.said.filter((one) => one["type"] === "ask")).toHaveLength(1);
});

test("an attachment is not said again: whoever wants it knows better from where", () => {
  const { link, gateway } = page();
  let failed = "";
  link.attach(
    { session: "s", last: 10 },
    () => {},
    (error) => (failed = error.code),
  );
  expect(failed).toBe("offline");
  gateway.accept();
  const [socket] = gateway.sockets;
  expect(socket?.said.map((one) => one["type"])).toEqual(["hello"]);
});

test("a refusal rejects with the gateway's code and what it is about", async () => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.silent = true;
  const asked = link.ask("open");
  const [socket] = gateway.sockets;
  const ref = socket?.said.at(-1)?.["ref"];
  socket?.tell({
    type: "reply",
    ref,
    error: "folder_not_trusted",
    message: "it brings settings",
    value: { files: "a\nb" },
  });
  await expect(asked).rejects.toMatchObject({
    code: "folder_not_trusted",
    message: "it brings settings",
    detail: { files: "a\nb" },
  });
});

test("a request that goes on is no refusal", async () => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.silent = true;
  const done = link.submit("s", { type: "interrupt" }, "r");
  const [socket] = gateway.sockets;
  socket?.tell({ type: "reply", ref: socket.said.at(-1)?.["ref"], error: "in_progress" });
  await expect(done).resolves.toMatchObject({ error: "in_progress" });
});

test("a question that nobody answers ends by itself; a command stays wanted", async () => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.silent = true;
  const asked = link.ask("list").catch(codeOf);
  let settled = false;
  void link.submit("s", { type: "interrupt" }, "r").then(() => (settled = true));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(await asked).toBe("timeout");
  expect(settled).toBe(false);
});

test("too much at once is refused, not kept", async () => {
  const { link } = page();
  const all = Array.from({ length: 520 }, () => link.ask("list").catch(codeOf));
  expect(await all.at(-1)).toBe("busy");
});

test.each([4401, 4403])("a login that is taken back ends it: %i", (code) => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.cut(code);
  expect(link.state).toBe("refused");
  vi.advanceTimersByTime(60_000);
  expect(link.state).toBe("refused");
  link.hurry(); // somebody logged in again
  gateway.accept();
  expect(link.state).toBe("online");
});

test("a login that is no good is found out, though the socket does not say so", async () => {
  const { link, gateway } = page(() => Promise.resolve(false));
  gateway.refuse();
  expect(link.state).toBe("offline");
  await vi.advanceTimersByTimeAsync(0);
  expect(link.state).toBe("refused");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(link.state).toBe("refused");
});

test("a gateway of another version is not talked to", () => {
  const { link, gateway } = page();
  gateway.proto = 99;
  gateway.accept();
  expect(link.state).toBe("newer");
  vi.advanceTimersByTime(60_000);
  expect(link.state).toBe("newer");
  expect(gateway.sockets.size).toBe(0);
});

test("a connection that never says a word is given up", () => {
  const { link, gateway } = page();
  gateway.heard = () => {};
  gateway.accept();
  vi.advanceTimersByTime(10_000);
  expect(link.state).toBe("offline");
});

test("starting over drops the connection and makes a new one", () => {
  const { link, gateway } = page();
  gateway.accept();
  const [before] = gateway.sockets;
  link.resync();
  expect(link.state).toBe("connecting"); // a gateway on this machine is there without a network
  gateway.accept();
  expect(link.state).toBe("online");
  expect(gateway.sockets.has(before!)).toBe(false);
});

test("a line that is no JSON is passed over", () => {
  const heard: string[] = [];
  const gateway = new FakeGateway();
  const link = new Link(
    { connection: () => {}, welcome: () => {}, message: (one) => heard.push(one.type) },
    gateway.open,
  );
  link.start();
  gateway.accept();
  const [socket] = gateway.sockets;
  const gauge = JSON.stringify({ type: "gauge", session: "s", name: "n", value: 1 });
  socket?.fire("message", { data: `{"type":\n${gauge}\n\n${gauge}` });
  expect(heard).toEqual(["gauge", "gauge"]);
});

test("a connection that dies without a word is noticed, and what was wanted is done", async () => {
  const { link, gateway, states } = page();
  gateway.accept();
  gateway.die();
  vi.advanceTimersByTime(1000);
  const done = link.submit("s", { type: "rename", title: "t" }, "request-1");
  vi.advanceTimersByTime(ANSWER_MS + 100);
  gateway.accept();
  await done;
  expect(gateway.executed).toHaveLength(1);
  expect(states).toEqual(["connecting", "online", "offline", "connecting", "online"]);
});

test("a quiet connection that is alive stays", async () => {
  const { gateway, states } = page();
  gateway.accept();
  await vi.advanceTimersByTimeAsync(20 * QUIET_MS);
  expect(states).toEqual(["connecting", "online"]);
  const [socket] = gateway.sockets;
  const asked = socket?.said.filter((one) => one["ref"] === "ping") ?? [];
  expect(asked.length).toBeGreaterThan(10);
});

test("somebody who comes back after hours gets a new connection at once", () => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.die();
  vi.setSystemTime(Date.now() + ASLEEP_MS);
  link.hurry();
  gateway.accept();
  expect(link.state).toBe("online");
});

test("somebody who looks away for a moment keeps their connection", () => {
  const { link, gateway, states } = page();
  gateway.accept();
  vi.advanceTimersByTime(1000);
  link.hurry();
  vi.advanceTimersByTime(5000);
  expect(states).toEqual(["connecting", "online"]);
});

test("a try that hangs is given up for somebody who comes back, a fresh one is not", () => {
  const { link, gateway, states } = page();
  link.hurry();
  vi.advanceTimersByTime(3000);
  expect(states).toEqual(["connecting"]);
  link.hurry();
  expect(states).toEqual(["connecting", "offline", "connecting"]);
  gateway.accept();
  expect(gateway.sockets.size).toBe(1);
  expect(link.state).toBe("online");
});

test("what one person asked for is not asked again by another", async () => {
  const { link, gateway } = page();
  gateway.accept();
  gateway.silent = true;
  const done = link.submit("s", { type: "archive" }, "request-1").catch(codeOf);
  gateway.cut(4401);
  gateway.principal = "guest:ann";
  link.hurry();
  gateway.accept();
  expect(await done).toBe("another_login");
  const [socket] = gateway.sockets;
  expect(socket?.said.filter((one) => one["type"] === "submit")).toEqual([]);
});

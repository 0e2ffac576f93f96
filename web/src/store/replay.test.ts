/** Whatever happens to the lines on their way, the page ends with the same words. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Fate, FakeGateway, type Line, RECORDED, recorded } from "../../tests/fake-gateway.ts";
import { Link } from "../link/link.ts";
import { Following } from "./following.ts";
import { SessionStore } from "./session.ts";

const NEVER = (): void => {};

/** Everything a page can show of a session. */
function shown(store: SessionStore): object {
  const { items, children, prompts, tasks, background, turn, past } = store.transcript;
  return {
    items: [...items],
    children: [...children],
    prompts,
    tasks,
    background,
    turn,
    past,
    last: store.last,
  };
}

/** The lines one after the other, as they were recorded. */
function straight(lines: readonly Line[], upTo: number): SessionStore {
  const store = new SessionStore(lines[0]?.session ?? "", NEVER);
  store.begin(1, 0, 0, false);
  for (const line of lines.slice(0, upTo)) {
    if (line.type === "event") expect(store.event(line)).toBe("ok");
    else if (line.type === "preview") store.preview(line);
  }
  return store;
}

function page(gateway: FakeGateway): { following: Following; link: Link; store: SessionStore } {
  const link: Link = new Link(
    {
      connection: (state) => (state === "online" ? following.again() : following.lost()),
      welcome: NEVER,
      message: (message) => following.message(message),
    },
    gateway.open,
  );
  const following = new Following(link, NEVER);
  link.start();
  gateway.accept();
  const session = gateway.lines[0]?.session ?? "";
  following.follow(session);
  return { following, link, store: following.store(session) };
}

function reconnect(gateway: FakeGateway, link: Link): void {
  gateway.cut();
  expect(link.state).toBe("offline");
  link.hurry();
  gateway.accept();
  expect(link.state).toBe("online");
}

/** What is on the screen in between may lack something at its end, and nothing else. */
function expectBeginnings(store: SessionStore, whole: SessionStore): void {
  for (const [id, item] of store.transcript.items) {
    const all = whole.item(id);
    expect(all?.kind).toBe(item.kind);
    if (item.kind === "text" || item.kind === "thinking") {
      expect((all as typeof item).text.startsWith(item.text)).toBe(true);
    }
  }
}

const fates = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>("deliver") },
  { weight: 1, arbitrary: fc.constant<Fate>("drop") },
  { weight: 2, arbitrary: fc.constant<Fate>("repeat") },
  { weight: 2, arbitrary: fc.constant<Fate>("late") },
);

for (const name of RECORDED) {
  const lines = recorded(name);

  test(`${name}: cuts, losses, repeats and other orders end in the same state`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ steps: fc.integer({ min: 1, max: 60 }), cut: fc.boolean() }), {
          maxLength: 12,
        }),
        fc.infiniteStream(fates),
        (parts, luck) => {
          const gateway = new FakeGateway(lines);
          const { link, store } = page(gateway);
          for (const part of parts) {
            gateway.play(part.steps, () => luck.next().value);
            expectBeginnings(store, straight(lines, gateway.at));
            if (!part.cut) continue;
            reconnect(gateway, link);
            expect(shown(store)).toEqual(shown(straight(lines, gateway.at)));
          }
          gateway.play(lines.length, () => luck.next().value);
          reconnect(gateway, link);
          expect(shown(store)).toEqual(shown(straight(lines, lines.length)));
          expect(store.synced).toBe(true);
          link.stop();
        },
      ),
      { numRuns: 40, seed: 7 },
    );
  });

  test(`${name}: read from its end, then page by page, it is as from its beginning`, async () => {
    const gateway = new FakeGateway(lines);
    gateway.at = lines.length;
    const { following, link, store } = page(gateway);
    const events = lines.filter((one) => one.type === "event");
    const begin = Math.max(0, events.length - 20);
    store.begin(1, events.length, begin, true);
    for (const one of events.slice(begin)) store.event(one);
    for (let step = 0; step < 20 && store.first > 1; step += 1) {
      await following.older(store.session);
    }
    expect(store.first).toBe(1);
    expect(shown(store)).toEqual(shown(straight(events, events.length)));
    link.stop();
  });
}

test("another epoch starts from nothing", () => {
  const lines = recorded("talk");
  const gateway = new FakeGateway(lines);
  const { link, store } = page(gateway);
  gateway.play(lines.length);
  const before = store.transcript.items.size;
  gateway.epoch = 2;
  reconnect(gateway, link);
  expect(store.epoch).toBe(2);
  expect(store.transcript.items.size).toBe(before);
  expect(shown(store)).toEqual(shown(straight(lines, lines.length)));
  link.stop();
});

test("a session is followed as long as one of those who look is there", () => {
  const gateway = new FakeGateway(recorded("talk"));
  const { following, link, store } = page(gateway);
  const [socket] = gateway.sockets;
  const stop = following.follow(store.session);
  stop();
  stop(); // once is enough
  expect(socket?.attached.has(store.session)).toBe(true);
  following.lost();
  expect(store.synced).toBe(false);
  link.stop();
});

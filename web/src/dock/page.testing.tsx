/** A session on a page with a gateway that does as it is told, for tests of composer and dock. */
import { act, render } from "@testing-library/react";
import { vi } from "vitest";
import { FakeGateway, type FakeSocket } from "../../tests/fake-gateway.ts";
import { Composer } from "../composer/composer.tsx";
import { useEscape } from "../composer/use-escape.ts";
import { AppContext } from "../parts/use-store.ts";
import type { Command, SessionEvent, SessionView } from "../protocol.gen.ts";
import { App } from "../store/app.ts";
import type { SessionStore } from "../store/session.ts";
import { Dock } from "./dock.tsx";

export const VIEW: SessionView = {
  session: "s",
  agent: "demo",
  cwd: "/w",
  title: "",
  status: "idle",
  why: "nothing",
  since_ms: 0,
  turn: "",
  turns: 0,
  ended: "",
  model: "m",
  mode: "default",
  cost_usd: 0,
  archived: false,
  prompts: [],
  queue: [],
  tools: [],
  labels: {},
  options: {},
  agent_session: "",
  background: 0,
  gauges: {},
};

/** Answers questions as the test says, and refuses what it says. */
class Told extends FakeGateway {
  readonly asked: Record<string, unknown> = {};
  refuses: { code: string; message: string } | undefined;

  override heard(socket: FakeSocket, message: Record<string, unknown>): void {
    const params = (message["params"] ?? {}) as Record<string, unknown>;
    if (message["name"] === "changes") return; // nothing changes: the answer does not come
    const name = message["name"] === "panel" ? String(params["name"]) : String(message["name"]);
    if (message["type"] === "ask" && name in this.asked) {
      socket.tell({ type: "reply", ref: message["ref"], value: this.asked[name] });
    } else if (message["type"] === "submit" && this.refuses !== undefined) {
      const { code: error, message: words } = this.refuses;
      socket.tell({ type: "reply", ref: message["ref"], error, message: words });
    } else {
      super.heard(socket, message);
    }
  }
}

export interface Shown {
  readonly app: App;
  readonly gateway: Told;
  readonly store: SessionStore;
  readonly happens: (...events: SessionEvent[]) => void;
  readonly looks: (view: Partial<SessionView>) => void;
  readonly sent: () => Command[];
  /** From here on, this is what the login may. */
  readonly may: (...scopes: string[]) => void;
  readonly again: () => void;
}

function Page({ store }: { readonly store: SessionStore }): React.ReactNode {
  useEscape(store);
  return (
    <>
      <Dock store={store} />
      <Composer store={store} />
    </>
  );
}

export async function shown(asked: Record<string, unknown> = {}): Promise<Shown> {
  vi.stubGlobal("IntersectionObserver", Sees);
  const gateway = new Told();
  Object.assign(gateway.asked, asked);
  let ids = 0;
  let held: (() => void)[] | undefined; // what comes together is drawn together, as in a frame
  const app = new App({
    open: gateway.open,
    shelf: sessionStorage,
    cupboard: localStorage,
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    schedule: (run) => (held === undefined ? run() : held.push(run)),
  });
  app.start();
  gateway.accept();
  app.following.follow("s");
  const store = app.session("s");
  const drawn = (): ReturnType<typeof render> =>
    render(
      <AppContext value={app}>
        <Page store={store} />
      </AppContext>,
    );
  let page = drawn();
  const tell = (message: object): void => {
    for (const socket of gateway.sockets) socket.tell(message);
  };
  const looks = (view: Partial<SessionView>): void => {
    act(() => tell({ type: "view", session: "s", seq: 0, state: { ...VIEW, ...view } }));
  };
  let seq = 0;
  const result: Shown = {
    app,
    gateway,
    store,
    looks,
    happens: (...events) => {
      act(() => {
        const frame: (() => void)[] = [];
        held = frame;
        for (const event of events) {
          seq += 1;
          tell({ type: "event", session: "s", epoch: 1, seq, at_ms: seq, event });
        }
        held = undefined;
        for (const run of frame) run();
      });
    },
    sent: () => gateway.executed.map((one) => one.command),
    may: (...scopes) => {
      const welcome = { type: "welcome", proto: 1, version: "", generation: 1 } as const;
      act(() => {
        app.welcome = { ...welcome, principal: "me", scopes };
        app.emitter.touch("welcome");
      });
    },
    again: () => {
      page.unmount();
      page = drawn();
    },
  };
  looks({});
  await act(async () => {}); // what was asked is answered
  return result;
}

/** Everything fits on the screen, unless a test says otherwise. */
export class Sees {
  static all = true;
  constructor(private readonly tell: (found: { isIntersecting: boolean }[]) => void) {}
  observe(): void {
    if (Sees.all) this.tell([{ isIntersecting: true }]);
  }
  disconnect(): void {}
}

export const ASKED: Extract<SessionEvent, { type: "permission.requested" }> = {
  type: "permission.requested",
  prompt: "p1",
  tool: "Bash",
  input: { command: "ls", description: "Look" },
  digest: "d1",
  suggestions: [
    { type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "ls" }] },
  ],
  offers: [
    {
      label: "Always allow",
      scope: "session",
      durable: false,
      widens: false,
      placed: true,
      rules: [{ tool: "Bash", pattern: "ls" }],
    },
  ],
};

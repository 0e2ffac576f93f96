/**
 * One WebSocket for everything, that comes back by itself.
 *
 * Whatever was asked or sent and has no answer yet is said again after a lost connection, under the
 * same name, so that it is carried out once. Which sessions are followed is asked for anew, each from
 * the last event it has.
 */
import {
  type Command,
  type GatewayMessage,
  PROTO,
  type ReplyLine,
  type Welcome,
} from "../protocol.gen.ts";
import { backoff } from "./backoff.ts";
import { anotherLogin } from "./errors.ts";
import { type Failed, Pending, type Then } from "./pending.ts";
import { Watch } from "./watch.ts";

/** `refused`: the login is not good any more. `newer`: the gateway speaks another protocol. */
export type Connection = "connecting" | "online" | "offline" | "refused" | "newer";

export interface Handlers {
  connection(state: Connection): void;
  welcome(welcome: Welcome): void;
  message(message: GatewayMessage): void;
}

interface AttachParams {
  session: string;
  epoch?: number;
  after?: number;
  last?: number;
  previews?: boolean;
}

/** The part of a WebSocket that is used here. */
export type Socketlike = Pick<WebSocket, "send" | "close" | "addEventListener" | "bufferedAmount">;

const NOT_LOGGED_IN = new Set([4401, 4403]);
const ASK_MS = 60_000;
const WELCOME_MS = 10_000;
/** A connection that is made for longer than this is better made anew, once there is a network. */
const STALE_MS = 1_500;
/** Any answer is a sign of life, and this one costs little. */
const PING = JSON.stringify({ type: "ask", ref: "ping", name: "status" });

export class Link {
  state: Connection = "connecting";
  private socket: Socketlike | undefined;
  private tries = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private slow: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private beganMs = 0;
  private who = "";
  private readonly watch = new Watch({
    ping: () => this.write(PING),
    unsent: () => this.socket?.bufferedAmount ?? 0,
    lost: () => this.anew(),
  });
  private readonly pending = new Pending();

  constructor(
    private readonly handlers: Handlers,
    private readonly open: () => Socketlike,
    /** Whether the login is good still: a socket that never opened does not say why. */
    private readonly isLoggedIn: () => Promise<boolean> = () => Promise.resolve(true),
    /** The key of the login: the first message, because a page cannot give a socket headers. */
    private readonly loginKey?: () => Promise<string>,
  ) {}

  start(): void {
    this.connect();
  }

  stop(): void {
    this.closed = true;
    clearTimeout(this.retry);
    clearTimeout(this.slow);
    this.watch.end();
    this.socket?.close();
  }

  /** Somebody came back to the page, or the network did: be right soon. */
  hurry(): void {
    const making = this.state === "connecting" && Date.now() - this.beganMs < STALE_MS;
    if (this.state === "online") this.watch.woke();
    else if (this.state !== "newer" && !making) this.anew();
  }

  /** Drop the connection and start over: the way out when something looks wrong. */
  resync(): void {
    if (this.socket !== undefined) this.anew();
  }

  ask(name: string, params: unknown = {}, waitMs: number = ASK_MS): Promise<unknown> {
    return this.request({ type: "ask", name, params }, waitMs).then((reply) => reply.value);
  }

  /** Resolves with the recorded outcome; a refusal rejects with the gateway's code. */
  submit(
    session: string,
    command: Command,
    request: string,
    until = "accepted",
  ): Promise<ReplyLine> {
    // without a limit of ours: what a person wants done stays wanted until somebody answers
    return this.request({ type: "submit", session, request, command, until }, 0);
  }

  /**
   * Follow a session. `begun` is called before anything of its stream is handed out, which a
   * promise could not promise: the stream comes right behind the answer.
   */
  attach(params: AttachParams, begun: (reply: ReplyLine) => void, failed: Failed): void {
    this.post({ type: "attach", ...params }, { resolve: begun, reject: failed, repeat: false });
  }

  detach(session: string): void {
    this.write(JSON.stringify({ type: "detach", session }));
  }

  // ---- inside ----------------------------------------------------------------------------------

  /** Another connection, now. */
  private anew(): void {
    this.tries = 0;
    this.lost(this.socket, 0);
    clearTimeout(this.retry);
    this.closed = false; // somebody may have logged in again, in another tab
    this.connect();
  }

  private request(message: object, waitMs: number): Promise<ReplyLine> {
    return new Promise((resolve, reject) => {
      this.post(message, { resolve, reject, repeat: true }, waitMs);
    });
  }

  private post(message: object, then: Then, waitMs: number = ASK_MS): void {
    const text = this.pending.add(message, then, waitMs);
    if (text === undefined) return;
    if (this.state === "online") {
      this.write(text);
      this.watch.wanted();
    } else {
      this.pending.lost();
    }
  }

  private connect(): void {
    this.become("connecting");
    this.beganMs = Date.now();
    const socket = this.open();
    const key = this.loginKey?.(); // read while the socket opens
    let opened = false;
    this.socket = socket;
    clearTimeout(this.slow);
    this.slow = setTimeout(() => this.lost(socket, 0), WELCOME_MS);
    socket.addEventListener("open", () => {
      opened = true;
      if (key === undefined) greet(socket);
      else void key.then((value) => greet(socket, value));
    });
    socket.addEventListener("message", (event: MessageEvent<unknown>) => {
      if (this.socket === socket && typeof event.data === "string") this.receive(event.data);
    });
    socket.addEventListener("close", (event) => {
      this.lost(socket, event.code);
      if (!opened) void this.whyNot();
    });
  }

  /** A login that is no good is refused before there is a socket, and a page cannot read that. */
  private async whyNot(): Promise<void> {
    if (await this.isLoggedIn()) return;
    if (this.state !== "offline" && this.state !== "connecting") return;
    clearTimeout(this.retry);
    clearTimeout(this.slow);
    this.closed = true;
    this.socket?.close();
    this.socket = undefined;
    this.become("refused");
  }

  private receive(text: string): void {
    this.watch.heard();
    for (const line of text.split("\n")) {
      if (line === "") continue;
      let message: GatewayMessage;
      try {
        message = JSON.parse(line) as GatewayMessage;
      } catch {
        continue; // not ours: a newer gateway may say things we cannot read
      }
      if (message.type === "welcome") this.welcomed(message);
      else if (message.type === "reply") this.pending.answered(message);
      else if (message.type === "error" && this.state === "connecting") this.outdated();
      else this.handlers.message(message);
    }
  }

  private welcomed(welcome: Welcome): void {
    this.tries = 0;
    clearTimeout(this.slow);
    if (welcome.proto !== PROTO) {
      this.outdated();
      return;
    }
    this.recognise(welcome.principal);
    this.handlers.welcome(welcome); // what it wants said comes after what was asked before
    const unsaid = this.pending.again(); // what is asked from here on is said at once
    this.become("online");
    this.watch.begin();
    for (const one of unsaid) this.write(one);
  }

  /** What somebody else asked for is not ours to repeat. */
  private recognise(who: string): void {
    const changed = this.who !== "" && this.who !== who;
    this.who = who;
    if (changed) this.pending.failAll(anotherLogin(true));
  }

  /** Our greeting was not understood: this page is of another version than the gateway. */
  private outdated(): void {
    this.closed = true;
    this.watch.end();
    clearTimeout(this.slow);
    this.become("newer");
    this.socket?.close();
  }

  private lost(socket: Socketlike | undefined, code: number): void {
    if (socket === undefined || this.socket !== socket) return;
    this.socket = undefined;
    clearTimeout(this.slow);
    this.watch.end();
    socket.close();
    this.pending.lost();
    if (NOT_LOGGED_IN.has(code)) {
      this.closed = true;
      this.become("refused");
    } else if (!this.closed) {
      this.become("offline");
      this.retry = setTimeout(() => this.connect(), backoff(this.tries));
      this.tries += 1;
    }
  }

  private write(text: string): void {
    if (this.state !== "online") return;
    this.watch.said(text.length);
    this.socket?.send(text);
  }

  private become(state: Connection): void {
    if (this.state === state && state !== "connecting") return;
    this.state = state;
    this.handlers.connection(state);
  }
}

function greet(socket: Socketlike, key?: string): void {
  if (key !== undefined) socket.send(JSON.stringify({ type: "auth", key }));
  socket.send(JSON.stringify({ type: "hello", proto: PROTO, client: "web" }));
}

/**
 * A gateway for tests: it plays a recorded log, and answers as the real one does.
 *
 * Nothing happens by itself. `accept` lets a waiting socket in, `play` lets the next lines of the
 * recording happen, `cut` ends every connection without a word.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROTO } from "../src/protocol.gen.ts";
import type { Command, EventLine, GatewayMessage, PreviewLine } from "../src/protocol.gen.ts";
import type { Socketlike } from "../src/link/link.ts";

export type Line = Extract<
  GatewayMessage,
  { type: "event" } | { type: "preview" } | { type: "gauge" } | { type: "view" }
>;
export const RECORDED = ["talk", "tools", "asking", "team", "trouble"] as const;

export function recorded(name: (typeof RECORDED)[number]): readonly Line[] {
  const text = readFileSync(join(import.meta.dirname, "fixtures", `${name}.json`), "utf8");
  return JSON.parse(text) as Line[];
}

/** What becomes of a line on its way: a real socket only delivers, but the page must not rely on it. */
export type Fate = "deliver" | "drop" | "repeat" | "late";

type Handler = (event: { data?: string; code?: number }) => void;

export class FakeSocket {
  readonly said: Record<string, unknown>[] = [];
  attached = new Set<string>();
  over = false;
  /** It leads nowhere, and nobody tells the page. */
  dead = false;
  /** What the browser has not got rid of yet. */
  bufferedAmount = 0;
  private late: object[] = [];
  private readonly handlers = new Map<string, Handler[]>();

  constructor(private readonly gateway: FakeGateway) {}

  addEventListener(name: string, handler: Handler): void {
    this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]);
  }

  send(text: string): void {
    if (this.over || this.dead) return;
    const message = JSON.parse(text) as Record<string, unknown>;
    this.said.push(message);
    this.gateway.heard(this, message);
  }

  close(code = 1000): void {
    if (this.over) return;
    this.over = true;
    this.gateway.sockets.delete(this);
    this.fire("close", { code });
  }

  tell(message: object, fate: Fate = "deliver"): void {
    if (this.over || this.dead || fate === "drop") return;
    if (fate === "late") {
      this.late.push(message);
      return;
    }
    this.fire("message", { data: JSON.stringify(message) });
    if (fate === "repeat") this.fire("message", { data: JSON.stringify(message) });
    const waiting = this.late;
    this.late = [];
    for (const one of waiting) this.tell(one);
  }

  fire(name: string, event: { data?: string; code?: number }): void {
    for (const one of this.handlers.get(name) ?? []) one(event);
  }
}

export class FakeGateway {
  readonly sockets = new Set<FakeSocket>();
  readonly executed: { request: string; command: Command }[] = [];
  proto = PROTO;
  principal = "uid:0";
  epoch = 1;
  /** How many lines of the recording have happened. */
  at = 0;
  /** Answers that are not given, as if they were lost with the connection. */
  silent = false;
  private readonly waiting: FakeSocket[] = [];

  constructor(readonly lines: readonly Line[] = []) {}

  /** To be given to the page as its way to open a socket. */
  readonly open = (): Socketlike => {
    const socket = new FakeSocket(this);
    this.waiting.push(socket);
    return socket as unknown as Socketlike;
  };

  accept(): void {
    for (const socket of this.waiting.splice(0)) {
      if (socket.over) continue;
      this.sockets.add(socket);
      socket.fire("open", {});
    }
  }

  /** Nobody is let in: the socket ends before it opened. */
  refuse(code = 1006): void {
    for (const socket of this.waiting.splice(0)) socket.close(code);
  }

  cut(code = 1006): void {
    for (const socket of [...this.sockets]) socket.close(code);
  }

  /** The connections that there are die, and no page hears of it. */
  die(): void {
    for (const socket of this.sockets) socket.dead = true;
  }

  play(count: number, fate: (line: Line) => Fate = () => "deliver"): void {
    for (const line of this.lines.slice(this.at, this.at + count)) {
      this.at += 1;
      for (const socket of [...this.sockets]) {
        if (socket.attached.has(line.session)) socket.tell(line, fate(line));
      }
    }
  }

  heard(socket: FakeSocket, message: Record<string, unknown>): void {
    const ref = message["ref"];
    switch (message["type"]) {
      case "hello":
        if (this.proto === PROTO) socket.tell(this.welcome());
        else socket.tell({ type: "error", code: "protocol_remote", message: "another protocol" });
        break;
      case "attach":
        this.attach(socket, message);
        break;
      case "detach":
        socket.attached.delete(String(message["session"]));
        break;
      case "submit":
        this.submit(socket, message);
        break;
      case "ask":
        if (!this.silent && !isWaiting(message)) {
          socket.tell({ type: "reply", ref, value: this.answer(message) });
        }
        break;
      default:
    }
  }

  private welcome(): object {
    const who = {
      principal: this.principal,
      scopes: ["view", "input", "approve", "spawn", "admin"],
    };
    return { type: "welcome", proto: this.proto, version: "0", generation: 1, ...who };
  }

  private submit(socket: FakeSocket, message: Record<string, unknown>): void {
    const request = String(message["request"]);
    const duplicate = this.executed.some((one) => one.request === request);
    if (!duplicate) this.executed.push({ request, command: message["command"] as Command });
    if (this.silent) return;
    socket.tell({ type: "reply", ref: message["ref"], stage: "accepted", duplicate });
  }

  private happened(): readonly EventLine[] {
    return this.lines.slice(0, this.at).filter((one) => one.type === "event");
  }

  private attach(socket: FakeSocket, message: Record<string, unknown>): void {
    const session = String(message["session"]);
    const events = this.happened();
    const head = events.at(-1)?.seq ?? 0;
    const known = message["epoch"] === this.epoch;
    const after = "last" in message ? Math.max(0, head - Number(message["last"])) : 0;
    const reset = "after" in message && !known;
    const from = known ? Number(message["after"]) : after;
    const value = { epoch: this.epoch, head, reset };
    socket.tell({ type: "reply", ref: message["ref"], value });
    socket.attached.add(session);
    for (const one of events) if (one.seq > from) socket.tell({ ...one, epoch: this.epoch });
    for (const one of this.drafts()) socket.tell(one);
  }

  /** All that open items have streamed so far, from their first delta on. */
  private drafts(): readonly PreviewLine[] {
    const open = new Map<string, PreviewLine>();
    for (const line of this.lines.slice(0, this.at)) {
      if (line.type === "preview") {
        const before = line.since === 0 ? "" : (open.get(line.item)?.text ?? "");
        open.set(line.item, { ...line, since: 0, text: before + line.text });
      } else if (line.type === "event" && line.event.type === "agent.exited") {
        open.clear();
      } else if (line.type === "event" && /\.done$|^tool\./.test(line.event.type)) {
        open.delete((line.event as { item?: string }).item ?? "");
      }
    }
    return [...open.values()];
  }

  private answer(message: Record<string, unknown>): unknown {
    const params = (message["params"] ?? {}) as Record<string, unknown>;
    switch (message["name"]) {
      case "changes":
        return { at: 1, whole: true, sessions: [], gone: [] };
      case "prompts":
        return { prompts: [], count: 0 };
      case "page": {
        const after = Number(params["after"]);
        const events = this.happened().filter((one) => one.seq > after);
        return { events: events.slice(0, 25), head: this.happened().length, epoch: this.epoch };
      }
      default:
        return {};
    }
  }
}

/** The list of sessions never changes here: who waits for that waits. */
function isWaiting(message: Record<string, unknown>): boolean {
  const params = (message["params"] ?? {}) as Record<string, unknown>;
  return message["name"] === "changes" && Number(params["after"]) > 0;
}

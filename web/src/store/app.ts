/**
 * All that this page knows, and all it can do: the one object every component gets.
 *
 * It follows the sessions that are open here, keeps the list of all of them current by a question that
 * is answered when something changed, and passes on what people want done.
 */
import { Link, type Connection, type Socketlike } from "../link/link.ts";
import { GatewayError, wordsOf } from "../link/errors.ts";
import type { Command, Content, GatewayMessage, SessionEvent, Welcome } from "../protocol.gen.ts";
import { Claims } from "./claims.ts";
import { Emitter, type Schedule } from "./emitter.ts";
import { Following } from "./following.ts";
import { Listing } from "./listing.ts";
import { Outbox, type Shelf } from "./outbox.ts";
import { Sending } from "./sending.ts";
import type { SessionStore } from "./session.ts";
import { SeenAlarms } from "./seen-alarms.ts";
import { SettingsStore } from "./settings.ts";
import { Ui } from "./ui.ts";
import { fieldsOf, textOf } from "./values.ts";

export interface Surroundings {
  readonly open: () => Socketlike;
  /** For as long as this tab is open. */
  readonly shelf: Shelf;
  /** For good. */
  readonly cupboard: Shelf;
  readonly newId: () => string;
  readonly isLoggedIn?: () => Promise<boolean>;
  /** The second half of the login; the browser sends the first one by itself. */
  readonly loginKey?: () => Promise<string>;
  /** Whether the gateway still has this page as it is. */
  readonly isCurrent?: () => Promise<boolean>;
  readonly schedule?: Schedule;
}

export class App {
  readonly emitter: Emitter;
  readonly link: Link;
  readonly listing: Listing;
  readonly following: Following;
  readonly outbox: Outbox;
  readonly sending: Sending;
  readonly settings: SettingsStore;
  readonly alarms: SeenAlarms;
  readonly ui: Ui;
  connection: Connection = "connecting";
  /** When it was last online; 0: never yet. */
  onlineMs = 0;
  welcome: Welcome | undefined;
  /** The gateway has another page by now: parts of this one that were not fetched yet are gone. */
  stale = false;
  private readonly newId: () => string;
  private readonly isCurrent: () => Promise<boolean>;

  constructor(around: Surroundings) {
    this.newId = around.newId;
    this.isCurrent = around.isCurrent ?? ((): Promise<boolean> => Promise.resolve(true));
    this.emitter = new Emitter(around.schedule);
    this.outbox = new Outbox(around.shelf, around.schedule);
    this.settings = new SettingsStore(around.cupboard, around.schedule);
    this.alarms = new SeenAlarms(around.cupboard, around.schedule);
    this.ui = new Ui(around.schedule);
    this.link = new Link(
      {
        connection: (state) => this.connected(state),
        welcome: (welcome) => this.welcomed(welcome),
        message: (message) => this.message(message),
      },
      around.open,
      around.isLoggedIn,
      around.loginKey,
    );
    const claims = new Claims(around.cupboard);
    this.sending = new Sending(this.outbox, claims, this.link, around.newId);
    this.listing = new Listing(this.link, around.schedule);
    this.following = new Following(this.link, around.schedule);
  }

  start(): void {
    this.link.start();
  }

  stop(): void {
    this.listing.stop();
    this.link.stop();
  }

  session(id: string): SessionStore {
    return this.following.store(id);
  }

  may(scope: string): boolean {
    return this.welcome?.scopes?.includes(scope) ?? false;
  }

  /** Why this connection cannot approve: known before somebody tries. */
  whyNot(): string {
    const reason = this.welcome?.reason ?? "";
    if (reason !== "") return reason;
    return "You may look here, not decide: your login does not have the right to approve.";
  }

  /** Find out whether this page is `stale`; if it is, that is said, with the way out. */
  async checkPage(): Promise<boolean> {
    const unknown = !this.stale && this.connection === "online";
    if (unknown && !(await this.isCurrent())) {
      this.stale = true;
      this.emitter.touch("stale");
    }
    return this.stale;
  }

  ask(name: string, params: unknown = {}): Promise<unknown> {
    return this.link.ask(name, params);
  }

  /** A question of one agent's own, such as its context report. */
  query(session: string, name: string, params: unknown = {}): Promise<unknown> {
    return this.link.ask("query", { session, name, params });
  }

  panel(session: string, name: string): Promise<unknown> {
    return this.link.ask("panel", { session, name });
  }

  /** Carry out a command once. A refusal rejects with the gateway's code. */
  async submit(session: string, command: Command, until = "accepted"): Promise<void> {
    await this.link.submit(session, command, this.newId(), until);
  }

  /** The same for a button: what went wrong is said where everybody looks. */
  async attempt(session: string, command: Command): Promise<boolean> {
    // of a setting it is worth knowing whether the agent took it; the rest shows in the log
    const setting = command.type.startsWith("set_") || command.type === "mcp";
    const request = this.newId();
    try {
      await this.link.submit(session, command, request, setting ? "done" : "accepted");
      return true;
    } catch (error) {
      this.ui.toast(this.whyRefused(session, request) || wordsOf(error), "error");
      return false;
    }
  }

  /** The agent's own words stand in the log only; "": there are none. */
  private whyRefused(session: string, request: string): string {
    const { key, reason } = this.session(session).transcript.refusal;
    const mine = reason !== "" && key === `${this.welcome?.principal}:${request}`;
    return mine ? `The agent refused it: ${reason}` : "";
  }

  /**
   * Say something: it shows at once, and stays until the log has it or somebody takes it back. Its
   * name; "": too much waits already, which is said where everybody looks.
   */
  send(session: string, content: Content[], mode: "auto" | "queue" | "steer" = "auto"): string {
    const request = this.sending.send(session, content, mode);
    if (request === "") this.ui.toast("Too many messages wait to be sent.", "error");
    return request;
  }

  async open(params: { agent: string; cwd: string; [key: string]: unknown }): Promise<string> {
    const value = fieldsOf(await this.link.ask("open", { request: this.newId(), ...params }));
    return textOf(value["session"]);
  }

  /** A new session that goes on where another one is: with it, or with a copy. Its id. */
  async branch(how: "fork" | "resume" | "continue", session: string): Promise<string> {
    const value = fieldsOf(await this.link.ask(how, { session, request: this.newId() }));
    return textOf(value["session"]);
  }

  // ---- inside ----------------------------------------------------------------------------------

  private connected(state: Connection): void {
    if (this.connection === "online" && state !== "online") this.onlineMs = Date.now();
    this.connection = state;
    this.emitter.touch("connection");
    if (state === "online") {
      this.following.again();
      this.listing.again();
      if (this.onlineMs > 0) void this.checkPage(); // it was away: maybe for an upgrade
    } else {
      this.following.lost();
    }
  }

  private welcomed(welcome: Welcome): void {
    this.welcome = welcome;
    this.emitter.touch("welcome");
    this.sending.welcome(welcome.principal);
  }

  private message(message: GatewayMessage): void {
    if (message.type === "view") this.listing.show(message.session, message.state);
    if (message.type === "event") this.arrived(message.session, message.event);
    this.following.message(message);
  }

  /** What the log has is no longer on its way. */
  private arrived(session: string, event: SessionEvent): void {
    if (event.type !== "input.accepted") return;
    // a key is who said it and under which name; both may have a colon
    const mine = this.outbox.of(session).find((one) => event.key.endsWith(`:${one.request}`));
    if (mine !== undefined) this.outbox.remove(mine.request);
  }
}

export { GatewayError };

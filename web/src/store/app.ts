/**
 * All that this page knows, and all it can do: the one object every component gets.
 *
 * It follows the sessions that are open here, keeps the list of all of them current by a question that
 * is answered when something changed, and passes on what people want done.
 */
import { Link, type Connection, type Socketlike } from "../link/link.ts";
import { GatewayError, codeOf, wordsOf } from "../link/errors.ts";
import type { Command, Content, GatewayMessage, SessionEvent, Welcome } from "../protocol.gen.ts";
import { Emitter, type Schedule } from "./emitter.ts";
import { Following } from "./following.ts";
import { Listing } from "./listing.ts";
import { Outbox, type Shelf } from "./outbox.ts";
import type { SessionStore } from "./session.ts";
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
  readonly schedule?: Schedule;
}

export class App {
  readonly emitter: Emitter;
  readonly link: Link;
  readonly listing: Listing;
  readonly following: Following;
  readonly outbox: Outbox;
  readonly settings: SettingsStore;
  readonly ui: Ui;
  connection: Connection = "connecting";
  /** When it was last online; 0: never yet. */
  onlineMs = 0;
  welcome: Welcome | undefined;
  private readonly newId: () => string;

  constructor(around: Surroundings) {
    this.newId = around.newId;
    this.emitter = new Emitter(around.schedule);
    this.outbox = new Outbox(around.shelf, around.schedule);
    this.settings = new SettingsStore(around.cupboard, around.schedule);
    this.ui = new Ui(around.schedule);
    this.link = new Link(
      {
        connection: (state) => this.connected(state),
        welcome: (welcome) => this.welcomed(welcome),
        message: (message) => this.message(message),
      },
      around.open,
      around.isLoggedIn,
    );
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
    try {
      await this.submit(session, command, setting ? "done" : "accepted");
      return true;
    } catch (error) {
      this.ui.toast(wordsOf(error), "error");
      return false;
    }
  }

  /** Say something: it shows at once, and stays until the log has it or somebody takes it back. */
  send(session: string, content: Content[], mode: "auto" | "queue" | "steer" = "auto"): string {
    const request = this.newId();
    const state = this.connection === "online" ? "sent" : "queued";
    this.outbox.add({ request, session, content, mode, state, error: "", code: "" });
    void this.deliver(request, session, content, mode);
    return request;
  }

  /** Try a refused message once more, under the same name. */
  retry(request: string): void {
    const one = this.outbox.find(request);
    if (one === undefined) return;
    this.outbox.update(request, { state: "sent", error: "", code: "" });
    void this.deliver(one.request, one.session, [...one.content], one.mode);
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

  private async deliver(
    request: string,
    session: string,
    content: Content[],
    mode: "auto" | "queue" | "steer",
  ): Promise<void> {
    try {
      await this.link.submit(session, { type: "send_input", content, mode }, request, "accepted");
      this.outbox.remove(request);
    } catch (error) {
      this.outbox.update(request, {
        state: "refused",
        error: wordsOf(error),
        code: codeOf(error),
      });
    }
  }

  private connected(state: Connection): void {
    if (this.connection === "online" && state !== "online") this.onlineMs = Date.now();
    this.connection = state;
    this.emitter.touch("connection");
    if (state === "online") {
      this.following.again();
      this.listing.again();
    } else {
      this.following.lost();
    }
  }

  private welcomed(welcome: Welcome): void {
    const first = this.welcome === undefined;
    this.welcome = welcome;
    this.emitter.touch("welcome");
    if (!first) return;
    for (const one of this.outbox.waiting()) {
      void this.deliver(one.request, one.session, [...one.content], one.mode);
    }
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

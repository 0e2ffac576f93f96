/**
 * Messages on their way to the gateway, each carried out once.
 *
 * Without a connection a message stays here, and can be changed or taken back as if it had never been
 * written. From the moment it is handed over nobody can tell whether it arrived until the gateway
 * says so: then it is the gateway that gives it back, or does not.
 */
import { anotherLogin, codeOf, wordsOf } from "../link/errors.ts";
import type { Link } from "../link/link.ts";
import type { Content } from "../protocol.gen.ts";
import type { Claims } from "./claims.ts";
import type { Outbox, Outgoing } from "./outbox.ts";

export class Sending {
  /** What the connection has of us: it says it again by itself. */
  private readonly handed = new Set<string>();
  /** Who is logged in here; "": nobody has told us yet. */
  private who = "";

  constructor(
    private readonly outbox: Outbox,
    private readonly claims: Claims,
    private readonly link: Pick<Link, "state" | "submit">,
    private readonly newId: () => string,
  ) {}

  /** The name of the message, or "": too many wait already. */
  send(session: string, content: Content[], mode: Outgoing["mode"]): string {
    if (this.outbox.full) return "";
    const request = this.newId();
    const one = { request, session, content, mode, by: this.who, error: "", code: "" };
    if (this.link.state === "online") {
      this.outbox.add({ ...one, state: "sent" });
      this.deliver({ ...one, state: "sent" });
    } else {
      this.outbox.add({ ...one, state: "queued" });
    }
    return request;
  }

  /** Try a refused message once more, under the same name. */
  retry(request: string): void {
    if (this.outbox.find(request)?.state !== "refused") return;
    this.outbox.update(request, { state: "queued", by: this.who, error: "", code: "" });
    if (this.link.state === "online") this.release();
  }

  /** Somebody writes other words for it; undefined: they leave it as it was. */
  rewrite(request: string, instead: string | undefined): void {
    if (this.outbox.find(request)?.state !== "queued") return;
    this.outbox.update(request, { instead });
    if (instead === undefined && this.link.state === "online") this.release();
  }

  /** Another message, in the place of one that has not left. False: it has, meanwhile. */
  replace(request: string, content: Content[]): boolean {
    if (!this.claim(request)) return false;
    // a new name: a copy of this tab may have the old words under the old one
    const change = { request: this.newId(), content, instead: undefined };
    this.outbox.update(request, change);
    if (this.link.state === "online") this.release();
    return true;
  }

  /** Nobody will get it. False: it may have left. */
  takeBack(request: string): boolean {
    if (!this.claim(request)) return false;
    this.outbox.remove(request);
    return true;
  }

  /** There is a connection, and this is who we are: what waits is handed over, the oldest first. */
  welcome(who: string): void {
    this.who = who;
    this.release();
  }

  private release(): void {
    for (const one of this.outbox.waiting()) {
      if (this.handed.has(one.request)) continue;
      if ((one.by ?? "") !== "" && one.by !== this.who) {
        this.refuse(one.request, anotherLogin(one.state === "sent"));
        continue;
      }
      if (one.state === "queued") {
        if (one.instead !== undefined) continue;
        if (!this.claims.claim(one.request, "sent")) {
          this.outbox.remove(one.request); // it was taken back, in a copy of this tab
          continue;
        }
        // kept before it leaves: a page that ends in between must not take it for one that never did
        this.outbox.update(one.request, { state: "sent" });
      }
      this.deliver(one);
    }
  }

  private claim(request: string): boolean {
    if (this.outbox.find(request)?.state !== "queued") return false;
    if (this.claims.claim(request, "taken")) return true;
    this.outbox.update(request, { state: "sent", instead: undefined }); // by a copy of this tab
    return false;
  }

  private refuse(request: string, error: unknown): void {
    this.claims.forget(request);
    const told = { error: wordsOf(error), code: codeOf(error), instead: undefined };
    this.outbox.update(request, { state: "refused", ...told });
  }

  private deliver({ request, session, content, mode }: Outgoing): void {
    this.handed.add(request);
    this.link
      .submit(session, { type: "send_input", content: [...content], mode }, request, "accepted")
      .finally(() => this.handed.delete(request))
      .then(
        () => this.outbox.remove(request),
        (error: unknown) => this.refuse(request, error),
      );
  }
}

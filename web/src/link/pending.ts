/** What was asked and has no answer yet. */
import type { ReplyLine } from "../protocol.gen.ts";
import { GatewayError } from "./errors.ts";

export type Failed = (error: GatewayError) => void;

export interface Then {
  readonly resolve: (reply: ReplyLine) => void;
  readonly reject: Failed;
  /** Whether it is said again after a lost connection. */
  readonly repeat: boolean;
}

interface Asked extends Then {
  readonly text: string;
  readonly timer: ReturnType<typeof setTimeout> | undefined;
}

const MOST = 512;

export class Pending {
  private refs = 0;
  private readonly all = new Map<string, Asked>();

  /** The line to be said for it; undefined: too much waits already, and it was refused. */
  add(message: object, then: Then, waitMs: number): string | undefined {
    if (this.all.size >= MOST) {
      then.reject(new GatewayError("busy", "too much is waiting for an answer"));
      return undefined;
    }
    this.refs += 1;
    const ref = String(this.refs);
    const text = JSON.stringify({ ...message, ref });
    const late = (): void => this.fail(ref, new GatewayError("timeout", "no answer"));
    const timer = waitMs > 0 ? setTimeout(late, waitMs) : undefined;
    this.all.set(ref, { ...then, text, timer });
    return text;
  }

  answered(reply: ReplyLine): void {
    const one = this.all.get(reply.ref);
    if (one === undefined) return;
    this.forget(reply.ref);
    // in_progress is no refusal: the request is recorded and goes on
    if (reply.error !== undefined && reply.error !== "" && reply.error !== "in_progress") {
      one.reject(new GatewayError(reply.error, reply.message ?? "", reply.value));
    } else {
      one.resolve(reply);
    }
  }

  /** Lines to be said again on a new connection, in the order they were asked in. */
  again(): readonly string[] {
    return [...this.all.values()].filter((one) => one.repeat).map((one) => one.text);
  }

  /** There is no connection: what is not said again has failed. */
  lost(): void {
    for (const [ref, one] of [...this.all]) {
      if (!one.repeat) this.fail(ref, new GatewayError("offline", "there is no connection"));
    }
  }

  failAll(error: GatewayError): void {
    for (const ref of [...this.all.keys()]) this.fail(ref, error);
  }

  private fail(ref: string, error: GatewayError): void {
    const one = this.all.get(ref);
    this.forget(ref);
    one?.reject(error);
  }

  private forget(ref: string): void {
    clearTimeout(this.all.get(ref)?.timer);
    this.all.delete(ref);
  }
}

/** The list of all sessions, and everything that waits for a person, kept current. */
import type { Link } from "../link/link.ts";
import type { SessionView } from "../protocol.gen.ts";
import { Emitter, type Schedule } from "./emitter.ts";
import { type Waiting, waitingOf } from "./prompts.ts";
import { type Row, rowOf, rowWithView } from "./rows.ts";
import { fieldsOf, listOf, numberOf, textsOf } from "./values.ts";

const WAIT_MS = 20_000;
const GRACE_MS = 10_000;
const PAUSE_MS = 1_000;

export class Listing {
  readonly emitter: Emitter;
  rows: readonly Row[] = [];
  waiting: readonly Waiting[] = [];
  /** False until the first list has come. */
  loaded = false;
  private at = 0;
  private round = 0;

  constructor(
    private readonly link: Link,
    schedule?: Schedule,
  ) {
    this.emitter = new Emitter(schedule);
  }

  /** The connection is back: ask for all of it, then for what changes. */
  again(): void {
    this.round += 1;
    this.at = 0;
    void this.listen(this.round);
  }

  stop(): void {
    this.round += 1;
  }

  row(session: string): Row | undefined {
    return this.rows.find((one) => one.session === session);
  }

  /** A session that is open here says it first. */
  show(session: string, view: SessionView): void {
    const known = this.row(session);
    if (known === undefined) return;
    const next = rowWithView(known, view);
    this.become(this.rows.map((one) => (one === known ? next : one)));
    if (next.prompts !== known.prompts) void this.prompts();
  }

  private async listen(round: number): Promise<void> {
    while (round === this.round && this.link.state === "online") {
      try {
        const wait = this.loaded && this.at > 0 ? WAIT_MS : 0;
        const told = await this.link.ask(
          "changes",
          { after: this.at, wait_ms: wait },
          WAIT_MS + GRACE_MS,
        );
        if (round !== this.round) return;
        await this.take(told);
      } catch (error) {
        if (round !== this.round) return;
        // an answer is overdue: the connection is dead even if nobody has told us
        if (error instanceof Error && "code" in error && error.code === "timeout") {
          this.link.resync();
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  private async take(told: unknown): Promise<void> {
    const value = fieldsOf(told);
    const whole = value["whole"] === true;
    const gone = new Set(textsOf(value["gone"]));
    const changed = listOf(value["sessions"]).map(rowOf);
    const names = new Set(changed.map((one) => one.session));
    const kept = whole
      ? []
      : this.rows.filter((one) => !gone.has(one.session) && !names.has(one.session));
    const before = this.rows.reduce((sum, one) => sum + one.prompts, 0);
    this.at = numberOf(value["at"]);
    this.loaded = true;
    this.become([...kept, ...changed]);
    const after = this.rows.reduce((sum, one) => sum + one.prompts, 0);
    if (before !== after || after > 0) await this.prompts();
  }

  /** All of what waits: a prompt is answered from a list only if all of it can be seen there. */
  async prompts(): Promise<void> {
    const value = fieldsOf(await this.link.ask("prompts"));
    this.waiting = listOf(value["prompts"]).flatMap((raw) => waitingOf(raw) ?? []);
    this.emitter.touch("waiting");
  }

  private become(rows: readonly Row[]): void {
    this.rows = rows;
    this.emitter.touch("rows");
  }
}

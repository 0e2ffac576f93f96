/** What ends with something else: with the turn, or with the agent. */
import type { EventLine } from "../protocol.gen.ts";
import type { Transcript } from "./reduce.ts";

/** So soon before the end of a turn that was stopped, a tool ended because of that. */
const STOPPED_MS = 2000;

/** What failed the moment the turn was stopped did not fail: it was stopped. */
export function stopTools(into: Transcript, turn: string, line: EventLine): void {
  for (const one of into.items.values()) {
    if (one.kind !== "tool" || one.turn !== turn || one.decision?.how === "denied") continue;
    const bad = one.status === "error" || one.status === "denied" || one.status === "partial";
    if (bad && line.at_ms - one.endedMs < STOPPED_MS) into.put({ ...one, stopped: true });
  }
}

/** A call whose beginning is not here may have returned before: it is over with its turn at last. */
export function endGuessed(into: Transcript, line: EventLine): void {
  for (const id of into.guessed) {
    const one = into.items.get(id);
    if (one?.kind === "tool" && one.status === "running") {
      into.put({ ...one, status: "ok", endedMs: line.at_ms });
    }
  }
  into.guessed.clear();
}

/** The agent is gone: nothing of it can be open any more. */
export function endOpen(into: Transcript, line: EventLine): void {
  for (const one of into.items.values()) {
    if (one.kind === "tool" && (one.status === "writing" || one.status === "running")) {
      into.put({ ...one, status: "partial", endedMs: line.at_ms });
    } else if ((one.kind === "text" || one.kind === "thinking") && one.status === "open") {
      into.put({ ...one, status: "partial", endedMs: line.at_ms });
    }
  }
}

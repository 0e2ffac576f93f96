/** What people said: how far each message has come. Answers and settings show in what they change. */
import type { EventLine, SessionEvent } from "../protocol.gen.ts";
import type { InputStage, UserItem } from "./items.ts";
import type { Transcript } from "./reduce.ts";

type InputEvent = Extract<
  SessionEvent,
  {
    type:
      | "input.accepted"
      | "input.dispatched"
      | "input.written"
      | "input.consumed"
      | "input.outcome"
      | "input.refused"
      | "queue.changed";
  }
>;

export function reduceInput(into: Transcript, event: InputEvent, line: EventLine): void {
  if (event.type === "input.accepted") {
    if (event.kind !== "message") return;
    const known = into.items.get(event.key);
    into.put({
      ...(known ?? into.base(event.key, line)),
      kind: "user",
      by: event.by,
      content: event.content ?? [],
      stage: "accepted",
      reason: "",
      mode: event.mode ?? "auto",
      turn: "",
      steered: into.turn !== "",
    } as UserItem);
    return;
  }
  const known = into.items.get(event.key);
  if (event.type === "input.refused" && known === undefined) {
    into.refusal = { key: event.key, reason: event.reason ?? "" };
  }
  if (known?.kind !== "user") return;
  if (event.type === "queue.changed") {
    into.put({ ...known, content: event.content });
    return;
  }
  const stage = stageOf(event);
  const turn = event.type === "input.consumed" ? (event.turn ?? "") : known.turn;
  const reason = "reason" in event ? (event.reason ?? "") : known.reason;
  into.put({ ...known, stage, turn, reason });
}

function stageOf(
  event: Exclude<InputEvent, { type: "input.accepted" | "queue.changed" }>,
): InputStage {
  switch (event.type) {
    case "input.dispatched":
      return "dispatched";
    case "input.written":
      return "written";
    case "input.consumed":
      return "consumed";
    case "input.refused":
      return "refused";
    case "input.outcome":
      return event.outcome;
  }
}

/** Its words have not reached the agent yet, and somebody may still change or take them back. */
export function isHeld(stage: InputStage): boolean {
  return stage === "accepted";
}

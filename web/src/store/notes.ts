/** Events that are a line of their own: what it is, and how loud. Everything else stays silent. */
import type { RateLimitEvent, SessionEvent } from "../protocol.gen.ts";
import type { NoteItem } from "./items.ts";

type Note = Pick<NoteItem, "note" | "text" | "level"> & { blob?: string };

export function noteOf(event: SessionEvent): Note | undefined {
  switch (event.type) {
    case "session.closed":
      return { note: "closed", text: event.reason ?? "", level: "info" };
    case "agent.exited":
      return { note: "exited", text: event.stderr_tail ?? "", level: "error" };
    case "conversation.lost":
      return { note: "lost", text: event.reason ?? "", level: "warning" };
    case "history":
      return { note: "history", text: event.phase, level: "info" };
    case "context.compacted":
      return {
        note: "compaction",
        text: event.phase ?? "done",
        level: event.phase === "failed" ? "warning" : "info",
      };
    case "notice":
      return { note: "notice", text: event.text, level: event.level ?? "info" };
    case "error":
      return { note: "error", text: event.text, level: "error" };
    case "alarm.raised":
      return { note: "alarm", text: event.text, level: "error" };
    case "gap":
      return { note: "gap", text: event.reason, level: "warning" };
    case "unrecognised":
      return {
        note: "unrecognised",
        text: event.text,
        level: "info",
        ...(event.blob === undefined ? {} : { blob: event.blob }),
      };
    case "retry":
      return { note: "retry", text: event.reason ?? "", level: "warning" };
    case "rate_limit":
      return limitStatus(event) === "allowed"
        ? undefined
        : { note: "rate_limit", text: limitStatus(event), level: "warning" };
    case "mode.changed":
      return { note: "mode", text: event.mode, level: "info" };
    case "model.changed":
      return { note: "model", text: event.model, level: "info" };
    case "permission.auto":
      return event.decision === "deny"
        ? { note: "auto", text: event.rule ?? "", level: "warning" }
        : undefined;
    case "permission.closed":
      return { note: "decision", text: event.message ?? "", level: "info" };
    case "question.closed":
      return { note: "answers", text: event.how, level: "info" };
    case "session.opened":
    case "session.changed":
    case "agent.started":
    case "agent.connected":
    case "agent.accepts_input":
      return undefined;
    default:
      return isKnown(event) ? undefined : { note: "unknown", text: "", level: "info" };
  }
}

const SHOWN_ELSEWHERE = new Set<string>([
  "agent.ready",
  "background.changed",
  "diff",
  "input.accepted",
  "input.consumed",
  "input.dispatched",
  "input.outcome",
  "input.refused",
  "input.written",
  "item.started",
  "permission.requested",
  "plan",
  "question.requested",
  "queue.changed",
  "tasks",
  "text.done",
  "thinking.done",
  "tool.result",
  "tool.started",
  "turn.ended",
  "turn.started",
]);

/** An event of a newer gateway is shown as it is, never dropped. */
function isKnown(event: { type: string }): boolean {
  return SHOWN_ELSEWHERE.has(event.type);
}

const LIMITS = { ok: "allowed", warning: "allowed_warning", reached: "rejected" } as const;

/** How the limit stands that it is about: typed, or in the agent's own word in an older log. */
function limitStatus(event: RateLimitEvent): string {
  const status = event.limits?.[0]?.status ?? "unknown";
  return status === "unknown" ? event.status : LIMITS[status];
}

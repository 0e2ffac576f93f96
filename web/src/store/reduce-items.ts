/** Texts, thoughts, tool calls and the ends of turns: how their events change them. */
import type { EventLine, SessionEvent, TextDoneEvent, ThinkingDoneEvent } from "../protocol.gen.ts";
import type { Base, Diff, Json, ResultItem, TextItem, ToolItem } from "./items.ts";
import type { Transcript } from "./reduce.ts";
import { NO_SUBJECT, subjectOf } from "./tool-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "./values.ts";

type Of<T extends SessionEvent["type"]> = Extract<SessionEvent, { type: T }>;

export function emptyText(kind: TextItem["kind"], base: Base, turn: string): TextItem {
  return {
    ...base,
    kind,
    text: "",
    status: "open",
    blob: "",
    command: false,
    redacted: false,
    turn,
    endedMs: 0,
  };
}

export function emptyTool(base: Base, turn: string): ToolItem {
  return {
    ...base,
    kind: "tool",
    name: "",
    tool: "",
    subject: NO_SUBJECT,
    input: undefined,
    asked: undefined,
    draft: "",
    inputBlob: "",
    text: "",
    blob: "",
    status: "writing",
    detail: undefined,
    diffs: [],
    runMs: 0,
    waitedMs: 0,
    endedMs: 0,
    turn,
    stopped: false,
    decision: undefined,
  };
}

export function closeText(
  item: TextItem,
  event: TextDoneEvent | ThinkingDoneEvent,
  line: EventLine,
): TextItem {
  return {
    ...item,
    text: event.text ?? "",
    status: event.status ?? "complete",
    blob: event.blob ?? "",
    redacted: event.type === "thinking.done" && event.redacted === true,
    endedMs: line.at_ms,
  };
}

export function reduceTool(
  into: Transcript,
  event: Of<"tool.started"> | Of<"tool.result"> | Of<"diff">,
  line: EventLine,
): void {
  if (event.type === "diff") {
    const known = into.tool(event.item, line);
    const diff: Diff = {
      path: event.path,
      patch: patchIn(event),
      blob: event.blob ?? "",
    };
    const { added, removed } = counted(diff.patch);
    into.added += added;
    into.removed += removed;
    into.put({ ...known, diffs: [...known.diffs, diff] });
    return;
  }
  const known = into.tool(event.item, line, event.parent);
  if (event.type === "tool.started") {
    into.put({
      ...known,
      name: event.name,
      tool: event.kind ?? "",
      // what somebody allowed instead stays, even if the call is told only afterwards
      ...(known.asked === undefined
        ? { ...inputIn(event), subject: subjectOf(event.subject) }
        : {}),
      draft: "",
      text: "",
      status: "running",
      runMs: line.at_ms,
    });
    return;
  }
  into.put({
    ...known,
    status: event.status ?? "ok",
    text: event.text ?? "",
    blob: event.blob ?? "",
    detail: event.detail as Json | undefined,
    endedMs: line.at_ms,
  });
}

/** The hunks of a change; those of an older log are only there as the agent wrote them. */
function patchIn(event: Of<"diff">): Json {
  const { hunks = [] } = event;
  if (hunks.length === 0) return (event.patch ?? null) as Json;
  return hunks.map((hunk) => ({
    oldStart: hunk.old_start ?? 0,
    oldLines: hunk.old_lines ?? 0,
    newStart: hunk.new_start ?? 0,
    newLines: hunk.new_lines ?? 0,
    lines: hunk.lines ?? [],
  }));
}

/** A call that somebody decided about runs with what they allowed. */
export function decidedTool(
  known: ToolItem,
  asked: Json,
  event: Of<"permission.closed">,
  line: EventLine,
): ToolItem {
  // an older gateway says that it was changed, and not into what
  const changed = event.input !== undefined || (event.blob ?? "") !== "";
  return {
    ...known,
    ...(changed ? { asked, draft: "", subject: NO_SUBJECT, ...inputIn(event) } : {}),
    // the time it takes a person to decide is none of the tool's
    runMs: line.at_ms,
    decision: {
      how: event.how,
      by: event.by ?? "",
      message: event.message ?? "",
      edited: event.edited ?? false,
      kept: Math.max(listOf(event.offers).length, listOf(event.rules).length),
      place: event.place ?? "",
    },
  };
}

/** Questions that were answered or not: the time that took is none of the tool's. */
export function answeredTool(
  known: ToolItem,
  event: Of<"question.closed">,
  line: EventLine,
): ToolItem {
  const decision = { how: event.how, by: event.by ?? "", message: "", edited: false } as const;
  return { ...known, runMs: line.at_ms, decision: { ...decision, kept: 0, place: "" } };
}

function inputIn(event: {
  readonly input?: unknown;
  readonly blob?: string;
}): Pick<ToolItem, "input" | "inputBlob"> {
  return { input: (event.input ?? null) as Json, inputBlob: event.blob ?? "" };
}

export function resultOf(from: Transcript, event: Of<"turn.ended">, line: EventLine): ResultItem {
  return {
    ...from.base(`result:${line.seq}`, line),
    kind: "result",
    turn: event.turn,
    reason: event.reason ?? "done",
    message: event.message ?? "",
    costUsd: event.cost_usd ?? 0,
    startedMs: from.turnStartedMs,
    waitedMs: from.waits.ofTurn(line.at_ms),
    usage: event.usage as Json | undefined,
    detail: event.detail as Json | undefined,
    added: from.added,
    removed: from.removed,
  };
}

/** Lines a patch adds and takes away; a patch is a list of hunks with signed lines. */
export function counted(patch: Json): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of listOf(patch)) {
    const { oldLines, newLines } = fieldsOf(hunk);
    // of a long one only the first lines are here; of a new or a deleted file they are all alike
    if (oldLines === 0 || newLines === 0) {
      added += numberOf(newLines);
      removed += numberOf(oldLines);
      continue;
    }
    for (const one of listOf(fieldsOf(hunk)["lines"])) {
      const sign = textOf(one).charAt(0);
      if (sign === "+") added += 1;
      else if (sign === "-") removed += 1;
    }
  }
  return { added, removed };
}

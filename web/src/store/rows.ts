/** The list of sessions, as rail, board, title and badge show it. */
import type { SessionView } from "../protocol.gen.ts";
import type { Json } from "./items.ts";
import type { ToolKind } from "./tool-kinds.ts";
import { fieldsOf, numberOf, textOf } from "./values.ts";

export interface Row {
  readonly session: string;
  readonly agent: string;
  readonly cwd: string;
  readonly title: string;
  readonly createdMs: number;
  readonly changedMs: number;
  readonly archived: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly status: SessionView["status"];
  readonly why: SessionView["why"];
  /** Since when it waits for that. */
  readonly sinceMs: number;
  readonly prompts: number;
  /** The tool that runs, or that a person is asked about. */
  readonly tool: string;
  /** The kind of that tool, where a person is asked about it. */
  readonly toolKind?: ToolKind | "";
  readonly queued: number;
  readonly costUsd: number;
  readonly model: string;
  readonly mode: string;
  /** How the last turn ended; "" while there was none. */
  readonly ended: string;
  /** The agent's own id of the conversation. */
  readonly conversation: string;
  /** The latest alarm, if there was one. */
  readonly alarm?: Alarm | undefined;
}

/** Something happened in a session that nobody here decided. */
export interface Alarm {
  readonly seq: number;
  readonly text: string;
  readonly advice: string;
}

export function rowOf(raw: Json): Row {
  const one = fieldsOf(raw);
  return {
    session: textOf(one["session"]),
    agent: textOf(one["agent"]),
    cwd: textOf(one["cwd"]),
    title: textOf(one["title"]),
    createdMs: numberOf(one["created_ms"]),
    changedMs: numberOf(one["changed_ms"]),
    archived: one["archived"] === true,
    labels: fieldsOf(one["labels"]) as Record<string, string>,
    status: textOf(one["status"]) as Row["status"],
    why: textOf(one["why"]) as Row["why"],
    sinceMs: numberOf(one["since_ms"]),
    prompts: numberOf(one["prompts"]),
    tool: textOf(one["tool"]),
    toolKind: textOf(one["tool_kind"]) as ToolKind | "",
    queued: numberOf(one["queued"]),
    costUsd: numberOf(one["cost_usd"]),
    model: textOf(one["model"]),
    mode: textOf(one["mode"]),
    ended: textOf(one["ended"]),
    conversation: textOf(one["conversation"]),
    alarm: alarmOf(one["alarm"]),
  };
}

function alarmOf(raw: Json | undefined): Alarm | undefined {
  const one = fieldsOf(raw);
  const seq = numberOf(one["seq"]);
  if (seq <= 0) return undefined;
  return { seq, text: textOf(one["text"]), advice: textOf(one["advice"]) };
}

/** A view of an open session is newer than its line in the list. */
export function rowWithView(row: Row, view: SessionView): Row {
  return {
    ...row,
    title: view.title,
    archived: view.archived,
    status: view.status,
    why: view.why,
    sinceMs: view.since_ms,
    prompts: view.prompts.length,
    tool: view.prompts[0]?.tool ?? view.tools[0]?.name ?? "",
    toolKind: view.prompts[0]?.tool_kind ?? "",
    queued: view.queue.length,
    costUsd: view.cost_usd,
    model: view.model,
    mode: view.mode,
    ended: view.ended,
  };
}

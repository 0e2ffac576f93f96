/** What stands in a transcript: one immutable object each, replaced when it changes. */
import type { Content } from "../protocol.gen.ts";
import type { Offer } from "./offers.ts";
import type { Subject, ToolKind } from "./tool-kinds.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Base {
  readonly id: string;
  /** The tool call of the sub-agent it belongs to; "": the conversation itself. */
  readonly parent: string;
  readonly atMs: number;
  /** Of the event that began it: its place. */
  readonly seq: number;
  /** It was said before this session (an imported or resumed conversation). */
  readonly past: boolean;
}

/** How far a person's message has come. */
export type InputStage =
  | "accepted"
  | "dispatched"
  | "written"
  | "consumed"
  | "cancelled"
  | "done"
  | "expired"
  | "lost"
  | "not_delivered"
  | "observed"
  | "refused"
  | "unknown";

export interface UserItem extends Base {
  readonly kind: "user";
  readonly by: string;
  readonly content: readonly Content[];
  readonly stage: InputStage;
  readonly reason: string;
  readonly mode: string;
  readonly turn: string;
  /** It was handed over while a turn ran. */
  readonly steered: boolean;
}

/** `open`: more of it may come as previews. */
export type TextStatus = "open" | "complete" | "partial" | "discarded";

export interface TextItem extends Base {
  readonly kind: "text" | "thinking";
  readonly text: string;
  readonly status: TextStatus;
  readonly blob: string;
  /** What a slash command printed. */
  readonly command: boolean;
  readonly redacted: boolean;
  readonly turn: string;
  readonly endedMs: number;
}

/** `writing`: its input still streams. `running`: it was handed over to be carried out. */
export type ToolStatus =
  "writing" | "running" | "ok" | "error" | "denied" | "partial" | "discarded";

export interface Diff {
  readonly path: string;
  readonly patch: Json;
  readonly blob: string;
}

export interface ToolItem extends Base {
  readonly kind: "tool";
  readonly name: string;
  /** The kind of the call; "": not told (see `kindOf`). */
  readonly tool: ToolKind | "";
  /** What the call is about, in few words; nothing where a person changed its input. */
  readonly subject: Subject;
  /** What it runs with; undefined while it is written. */
  readonly input: Json | undefined;
  /** What the agent had asked, where a person changed it and then allowed it. */
  readonly asked: Json | undefined;
  /** The input as it streams, JSON that is not whole yet. */
  readonly draft: string;
  readonly inputBlob: string;
  /** What it printed: as it streams, then all of it. */
  readonly text: string;
  readonly blob: string;
  readonly status: ToolStatus;
  readonly detail: Json | undefined;
  readonly diffs: readonly Diff[];
  readonly runMs: number;
  /** Of a sub-agent: how long its prompts waited for a person since then. */
  readonly waitedMs: number;
  readonly endedMs: number;
  readonly turn: string;
  /** The turn was stopped while it ran. */
  readonly stopped: boolean;
  /** How its permission was decided, or its questions were answered, if somebody was asked. */
  readonly decision: Decision | undefined;
}

export interface Decision {
  readonly how:
    "allowed" | "answered" | "cancelled" | "declined" | "denied" | "expired" | "orphaned" | "auto";
  readonly by: string;
  readonly message: string;
  /** A person changed the input before it ran. */
  readonly edited: boolean;
  /** How many offers were accepted along with it. */
  readonly kept: number;
  readonly place: string;
}

export interface PlanItem extends Base {
  readonly kind: "plan";
  readonly text: string;
  readonly blob: string;
}

export interface ResultItem extends Base {
  readonly kind: "result";
  readonly turn: string;
  readonly reason: "agent_exited" | "done" | "error" | "interrupted" | "limit";
  readonly message: string;
  readonly costUsd: number;
  readonly startedMs: number;
  /** How long of that a person was waited for. */
  readonly waitedMs: number;
  readonly usage: Json | undefined;
  readonly detail: Json | undefined;
  readonly added: number;
  readonly removed: number;
}

/** Everything that is worth a line of its own and belongs to no item. */
export type NoteKind =
  | "opened"
  | "closed"
  | "exited"
  | "lost"
  | "history"
  | "compaction"
  | "notice"
  | "error"
  | "alarm"
  | "gap"
  | "unrecognised"
  | "retry"
  | "rate_limit"
  | "mode"
  | "model"
  | "auto"
  | "decision"
  | "answers"
  | "unknown";

export interface NoteItem extends Base {
  readonly kind: "note";
  readonly note: NoteKind;
  readonly text: string;
  readonly level: "info" | "warning" | "error";
  /** The whole event, for whoever wants to say more about it. */
  readonly event: Json;
  readonly blob: string;
}

export type Item = UserItem | TextItem | ToolItem | PlanItem | ResultItem | NoteItem;

/** An open prompt with all that a person has to see before an answer. */
export interface Prompt {
  readonly id: string;
  readonly kind: "permission" | "question";
  readonly digest: string;
  readonly sinceMs: number;
  readonly tool: string;
  readonly input: Json;
  readonly questions: readonly Question[];
  readonly reason: string;
  readonly offers: readonly Offer[];
  /** How many suggestions the agent made, described or not. */
  readonly suggested: number;
  readonly canEdit: boolean;
  readonly item: string;
  readonly parent: string;
  /** The kind of sub-agent that asks; "": the main agent. */
  readonly agent: string;
  readonly detail: Json | undefined;
  readonly toolKind: ToolKind | "";
  readonly subject: Subject;
}

export interface Question {
  /** What its answer is filed under; "": its text. */
  readonly key: string;
  readonly question: string;
  readonly header: string;
  readonly multiSelect: boolean;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

export interface Task {
  readonly id: string;
  readonly content: string;
  readonly status: string;
  /** What it says while it is worked on. */
  readonly activeForm: string;
  readonly owner: string;
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
}

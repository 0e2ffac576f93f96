/** Open prompts: from an event of the log, or from the gateway's list of all that waits. */
import type { PermissionRequestedEvent, QuestionRequestedEvent } from "../protocol.gen.ts";
import type { Json, Prompt, Question } from "./items.ts";
import { fieldsOf, listOf, numberOf, textOf } from "./values.ts";

export function questionsOf(value: unknown): readonly Question[] {
  return listOf(value).map((raw) => {
    const one = fieldsOf(raw);
    return {
      question: textOf(one["question"]),
      header: textOf(one["header"]),
      multiSelect: one["multiSelect"] === true,
      options: listOf(one["options"]).map((option) => ({
        label: textOf(fieldsOf(option)["label"]),
        description: textOf(fieldsOf(option)["description"]),
      })),
    };
  });
}

const NOTHING = {
  tool: "",
  input: null,
  questions: [],
  reason: "",
  suggestions: [],
  canEdit: false,
  detail: undefined,
} as const;

export function promptOfEvent(
  event: PermissionRequestedEvent | QuestionRequestedEvent,
  atMs: number,
): Prompt {
  const shared = {
    ...NOTHING,
    id: event.prompt,
    digest: event.digest,
    sinceMs: atMs,
    item: event.item ?? "",
    parent: event.parent ?? "",
    agent: event.agent ?? "",
  };
  if (event.type === "question.requested") {
    return { ...shared, kind: "question", questions: questionsOf(event.questions) };
  }
  return {
    ...shared,
    kind: "permission",
    tool: event.tool,
    input: (event.input ?? null) as Json,
    reason: event.reason ?? "",
    suggestions: listOf(event.suggestions),
    canEdit: event.can_edit ?? true,
    detail: event.detail as Json | undefined,
  };
}

/** A prompt of the `prompts` question or panel, and the session it belongs to. */
export interface Waiting {
  readonly session: string;
  readonly title: string;
  readonly agent: string;
  readonly cwd: string;
  readonly prompt: Prompt;
}

export function waitingOf(raw: Json): Waiting | undefined {
  const one = fieldsOf(raw);
  const id = textOf(one["prompt"]);
  if (id === "") return undefined;
  return {
    session: textOf(one["session"]),
    title: textOf(one["title"]),
    agent: textOf(one["agent"]),
    cwd: textOf(one["cwd"]),
    prompt: {
      id,
      kind: one["kind"] === "question" ? "question" : "permission",
      digest: textOf(one["digest"]),
      sinceMs: numberOf(one["since_ms"]),
      tool: textOf(one["tool"]),
      input: one["input"] ?? null,
      questions: questionsOf(one["questions"]),
      reason: textOf(one["reason"]),
      suggestions: listOf(one["suggestions"]),
      canEdit: one["can_edit"] === true,
      item: textOf(one["item"]),
      parent: textOf(one["parent"]),
      agent: textOf(one["by_agent"]),
      detail: one["detail"],
    },
  };
}

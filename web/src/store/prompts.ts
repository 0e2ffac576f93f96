/** Open prompts: from an event of the log, or from the gateway's list of all that waits. */
import type {
  PermissionRequestedEvent,
  PromptQuestion,
  QuestionRequestedEvent,
  ToolSubject,
} from "../protocol.gen.ts";
import type { Json, Prompt, Question } from "./items.ts";
import { offersOf } from "./offers.ts";
import { NO_SUBJECT, subjectOf } from "./tool-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "./values.ts";

/** The questions of a prompt; those of an older log are only there as the agent wrote them. */
export function questionsOf(
  value: unknown,
  asked: readonly PromptQuestion[] = [],
): readonly Question[] {
  if (asked.length === 0) return untyped(value);
  return asked.map((one) => ({
    key: one.id ?? "",
    question: one.text,
    header: one.header ?? "",
    multiSelect: one.multi ?? false,
    options: (one.options ?? []).map(({ label, description = "" }) => ({ label, description })),
  }));
}

function untyped(value: unknown): readonly Question[] {
  return listOf(value).map((raw) => {
    const one = fieldsOf(raw);
    return {
      key: "",
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
  offers: [],
  suggested: 0,
  canEdit: false,
  detail: undefined,
  toolKind: "",
  subject: NO_SUBJECT,
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
    return { ...shared, kind: "question", questions: questionsOf(event.questions, event.asked) };
  }
  return {
    ...shared,
    kind: "permission",
    tool: event.tool,
    input: (event.input ?? null) as Json,
    reason: event.reason ?? "",
    offers: offersOf(event.offers),
    suggested: listOf(event.suggestions).length,
    canEdit: event.can_edit ?? true,
    detail: event.detail as Json | undefined,
    toolKind: event.kind ?? "",
    subject: subjectOf(event.subject),
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
      questions: questionsOf(one["questions"], one["asked"] as PromptQuestion[] | undefined),
      reason: textOf(one["reason"]),
      offers: offersOf(one["offers"]),
      suggested: listOf(one["suggestions"]).length,
      canEdit: one["can_edit"] === true,
      item: textOf(one["item"]),
      parent: textOf(one["parent"]),
      agent: textOf(one["by_agent"]),
      detail: one["detail"],
      toolKind: textOf(one["tool_kind"]) as Prompt["toolKind"],
      subject: subjectOf(one["subject"] as ToolSubject | undefined),
    },
  };
}

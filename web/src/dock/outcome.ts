/** How a prompt ended that this page did not answer. */
import type { Json, Prompt } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, textOf } from "../store/values.ts";

export interface Ending {
  readonly how: string;
  readonly by: string;
  readonly edited?: boolean;
}

const RECENT = 60;

/** What the log says about it. */
export function endingOf(store: SessionStore, prompt: Prompt): Ending | undefined {
  const tool = store.item(prompt.item);
  if (tool?.kind === "tool" && tool.decision !== undefined) return tool.decision;
  for (const id of store.children("").slice(-RECENT).toReversed()) {
    const item = store.item(id);
    if (item?.kind !== "note") continue;
    const event: Json = item.event;
    const told = fieldsOf(event);
    if (told["prompt"] === prompt.id) return { how: textOf(told["how"]), by: textOf(told["by"]) };
  }
  return undefined;
}

export function endingWords(ending: Ending | undefined, me: string): string {
  const where = ending?.by === me ? "on another device" : `by ${ending?.by ?? ""}`;
  switch (ending?.how) {
    case "allowed":
      return `Allowed ${where}${ending.edited === true ? ", with changes" : ""}`;
    case "denied":
      return `Denied ${where}`;
    case "answered":
      return `Answered ${where}`;
    case "declined":
      return `Declined ${where}`;
    case "cancelled":
      return "The agent took it back";
    case "expired":
      return "Nobody answered in time: it was denied";
    case "orphaned":
      return "The agent ended before it had an answer";
    default:
      return "No longer asked";
  }
}

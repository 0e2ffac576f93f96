/** When the state of a session is worth a word, and which. */
import { attention, doing, titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import type { Urgency } from "./say.ts";

/** `here`: it is the session on the screen. Of the others only what needs somebody is said. */
export function boundary(
  was: Row,
  is: Row,
  here: boolean,
): { text: string; urgency: Urgency } | undefined {
  const before = attention(was);
  const now = attention(is);
  if (now === "waiting" && (before !== "waiting" || is.prompts > was.prompts)) {
    return { text: `${titleOf(is)}: ${doing(is)}.`, urgency: "polite" };
  }
  if (before === now) return undefined;
  if (now === "failed") return { text: `${titleOf(is)}: the turn failed.`, urgency: "assertive" };
  if (!here) return undefined;
  if (now === "running" && before !== "waiting") return { text: "Started.", urgency: "polite" };
  if (now === "idle" && (before === "running" || before === "waiting")) {
    return { text: "Finished.", urgency: "polite" };
  }
  return undefined;
}

/** When the state of a session is worth a word, and which. */
import { attention, doing, titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import type { Urgency } from "./say.ts";

/** `was` is undefined for a session that is new. `here`: it is the session on the screen. Of the others only what needs somebody is said. */
export function boundary(
  was: Row | undefined,
  is: Row,
  here: boolean,
): { text: string; urgency: Urgency } | undefined {
  const before = was === undefined ? "off" : attention(was);
  const now = attention(is);
  if (now === "waiting" && (before !== "waiting" || is.prompts > (was?.prompts ?? 0))) {
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

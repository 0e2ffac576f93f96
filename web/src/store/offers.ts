/** Offers of a permission prompt. What a gateway leaves out has the safe value: it counts as more. */
import { fieldsOf, listOf, own, textOf, textsOf } from "./values.ts";

/** How far an offer reaches when it is accepted in this session. */
export type Reach = "once" | "session" | "project" | "user";

export interface OfferRule {
  readonly tool: string;
  /** What the tool may be asked to do; undefined: anything. */
  readonly pattern: string | undefined;
}

export interface Offer {
  /** Its number among the prompt's offers: an answer names it by that. */
  readonly index: number;
  /** What accepting it does, in words; "": it cannot be described, and is not offered. */
  readonly label: string;
  readonly scope: Reach;
  readonly rules: readonly OfferRule[];
  readonly folders: readonly string[];
  /** The answer that it belongs to. */
  readonly decision: "allow" | "deny";
  /** The answer may choose where it holds. */
  readonly placed: boolean;
  /** Accepting it needs the right to administer, wherever it holds. */
  readonly admin: boolean;
}

const REACHES: Readonly<Record<string, Reach>> = {
  once: "once",
  session: "session",
  project: "project",
  user: "user",
};

export function offersOf(value: unknown): readonly Offer[] {
  return listOf(value).map((raw, index) => {
    const offer = fieldsOf(raw);
    const scope = own(REACHES, textOf(offer["scope"])) ?? "user";
    const decision = offer["decision"] === "deny" ? "deny" : "allow";
    const grants =
      offer["widens"] !== false || offer["allows"] === true || textOf(offer["mode"]) !== "";
    const folders = textsOf(offer["folders"]);
    // a denial that is kept makes the agent do less, and nothing else
    const narrows = decision === "deny" && !grants && folders.length === 0;
    const lasting = offer["durable"] !== false || scope === "project" || scope === "user";
    return {
      index,
      label: textOf(offer["label"]),
      scope,
      rules: listOf(offer["rules"]).map((rule) => {
        const { tool, pattern } = fieldsOf(rule);
        return { tool: textOf(tool), pattern: typeof pattern === "string" ? pattern : undefined };
      }),
      folders,
      decision,
      placed: offer["placed"] === true,
      admin: !narrows && (lasting || offer["widens"] !== false || textOf(offer["mode"]) !== ""),
    };
  });
}

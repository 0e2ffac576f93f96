/**
 * What "always" would store, in words: the rule as it is kept, and where. What is offered is never
 * broader than what is said.
 */
import type { Json } from "../store/items.ts";
import { fieldsOf, listOf, textOf, textsOf } from "../store/values.ts";
import { exact } from "./exact.ts";

export type Place = "session" | "local" | "project" | "user";

export const PLACES: Readonly<Record<Place, string>> = {
  session: "in this session",
  local: "in this project, for me",
  project: "in this project, for everybody",
  user: "everywhere, for me",
};

export interface Offer {
  /** Its number among the prompt's suggestions. */
  readonly index: number;
  /** "Always allow", "Accept edits". */
  readonly verb: string;
  /** The rule itself; "": the verb says all. */
  readonly rule: string;
  /** It can be kept in several places. */
  readonly placed: boolean;
  /** It changes the mode, which needs the right to administer even in this session. */
  readonly admin: boolean;
}

const NEVER = "bypassPermissions"; // that nobody is asked any more is not offered by a prompt

export function offersOf(suggestions: readonly Json[]): readonly Offer[] {
  return suggestions.flatMap((one, index) => {
    const told = wordsOf(fieldsOf(one));
    return told === undefined ? [] : [{ index, ...told }];
  });
}

function wordsOf(one: ReturnType<typeof fieldsOf>): Omit<Offer, "index"> | undefined {
  const rule = listOf(one["rules"]).map(ruleOf).join(", ");
  const directories = textsOf(one["directories"]).map(exact).join(", ");
  const usual = { placed: true, admin: false };
  switch (one["type"]) {
    case "addRules":
      if (rule === "") return undefined;
      return { verb: `Always ${textOf(one["behavior"]) || "allow"}`, rule, ...usual };
    case "replaceRules":
      return { verb: `Replace the rules that ${textOf(one["behavior"])} by`, rule, ...usual };
    case "removeRules":
      return { verb: "Remove the rules", rule, ...usual };
    case "addDirectories":
      return directories === ""
        ? undefined
        : { verb: "Always allow the folder", rule: directories, ...usual };
    case "removeDirectories":
      return { verb: "No longer allow the folder", rule: directories, ...usual };
    case "setMode":
      return modeWords(textOf(one["mode"]));
    default:
      return undefined; // nobody can say what it would do
  }
}

function modeWords(mode: string): Omit<Offer, "index"> | undefined {
  if (mode === NEVER || mode === "") return undefined;
  const verb = mode === "acceptEdits" ? "Allow, and accept all edits" : "Allow, and switch to mode";
  return { verb, rule: mode === "acceptEdits" ? "" : exact(mode), placed: false, admin: true };
}

function ruleOf(value: Json): string {
  const one = fieldsOf(value);
  const name = exact(textOf(one["toolName"]) || "?");
  const content = one["ruleContent"];
  return typeof content === "string" ? `${name}(${exact(content)})` : `${name}, whatever it does`;
}

export function placeOf(offer: Offer, chosen: Place): Place {
  return offer.placed ? chosen : "session";
}

/** The whole sentence a button stands for. */
export function sentence(offer: Offer, place: Place): string {
  const what = offer.rule === "" ? offer.verb : `${offer.verb} ${offer.rule}`;
  return `${what} ${PLACES[placeOf(offer, place)]}`;
}

/**
 * What "always" would store, in words: the rule as it is kept, and where. What is offered is never
 * broader than what is said.
 */
import type { Prompt } from "../store/items.ts";
import type { Offer, OfferRule, Reach } from "../store/offers.ts";
import { exact } from "./exact.ts";

export type Place = "session" | "local" | "project" | "user";

export const PLACES: Readonly<Record<Place, string>> = {
  session: "in this session",
  local: "in this project, for me",
  project: "in this project, for everybody",
  user: "everywhere, for me",
};

/** Where an offer holds whose place cannot be chosen. */
const REACHES: Readonly<Record<Reach, string>> = {
  once: "this once",
  session: "in this session",
  project: "in this project, also later",
  user: "everywhere, also later",
};

/** The offers that can be described, those of a denial last; the others are not offered. */
export function shownOffers(prompt: Prompt): readonly Offer[] {
  const shown = prompt.offers.filter((offer) => offer.label !== "");
  const isDenial = (offer: Offer): number => (offer.decision === "deny" ? 1 : 0);
  return shown.toSorted((a, b) => isDenial(a) - isDenial(b));
}

/** A sentence about suggestions that cannot be described; "": there are none. */
export function hiddenOffers(prompt: Prompt): string {
  const hidden = Math.max(prompt.offers.length, prompt.suggested) - shownOffers(prompt).length;
  if (hidden <= 0) return "";
  return `Not offered here: ${hidden} of the agent's suggestions.`;
}

export function verbOf(offer: Offer): string {
  return exact(offer.label);
}

/** The rules and folders it is about; "": the verb says all. */
export function ruleOf(offer: Offer): string {
  return [...offer.rules.map(ruleText), ...offer.folders.map(exact)].join(", ");
}

function ruleText({ tool, pattern }: OfferRule): string {
  const name = exact(tool || "?");
  return pattern === undefined ? `${name}, whatever it does` : `${name}(${exact(pattern)})`;
}

export function placeOf(offer: Offer, chosen: Place): Place {
  return offer.placed ? chosen : "session";
}

/** Where it holds, in words. */
export function whereOf(offer: Offer, chosen: Place): string {
  return offer.placed ? PLACES[chosen] : REACHES[offer.scope];
}

/** The whole sentence a button stands for. */
export function sentence(offer: Offer, place: Place): string {
  const rule = ruleOf(offer);
  const what = rule === "" ? verbOf(offer) : `${verbOf(offer)} ${rule}`;
  return `${what} ${whereOf(offer, place)}`;
}

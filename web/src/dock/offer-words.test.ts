import { expect, test } from "vitest";
import { promptOfEvent } from "../store/prompts.ts";
import { type Place, hiddenOffers, placeOf, sentence, shownOffers } from "./offer-words.ts";
import { ASKED } from "./page.testing.tsx";

const HERE = { scope: "session", durable: false, widens: false, placed: true } as const;

function promptWith(offers: readonly object[], suggestions: readonly unknown[] = []) {
  return promptOfEvent({ ...ASKED, offers: [...offers], suggestions: [...suggestions] }, 0);
}

const said = (offer: object, place: Place = "session"): string[] =>
  shownOffers(promptWith([offer])).map((one) => sentence(one, place));

test.each([
  [
    { ...HERE, label: "Always allow", rules: [{ tool: "Bash", pattern: "pytest:*" }] },
    "Always allow Bash(pytest:*) in this session",
  ],
  [
    { ...HERE, label: "Always allow", rules: [{ tool: "mcp__demo__add" }] },
    "Always allow mcp__demo__add, whatever it does in this session",
  ],
  [
    { ...HERE, label: "Always allow the folder", folders: ["/project"] },
    "Always allow the folder /project in this session",
  ],
  [
    { ...HERE, label: "Allow, and accept all edits", mode: "acceptEdits", placed: false },
    "Allow, and accept all edits in this session",
  ],
  [
    { label: "Always allow", rules: [{ tool: "shell", pattern: "ls" }] },
    "Always allow shell(ls) everywhere, also later",
  ],
  [{ ...HERE, label: "Allow", scope: "once", placed: false }, "Allow this once"],
])("%j is said as what it stores", (offer, words) => {
  expect(said(offer)).toEqual([words]);
});

test("a rule is said with the place it is kept in, and only if the place can be chosen", () => {
  const rule = { ...HERE, label: "Always allow", rules: [{ tool: "Read" }] };
  expect(said(rule, "project")[0]).toMatch(/in this project, for everybody$/);
  expect(said({ ...rule, placed: false }, "user")[0]).toMatch(/in this session$/);
  const [fixed] = shownOffers(promptWith([{ ...rule, placed: false }]));
  expect(fixed && placeOf(fixed, "user")).toBe("session");
});

test("what cannot be described is counted and not offered", () => {
  const prompt = promptWith([{ mode: "bypassPermissions" }, { ...HERE, label: "Always allow" }]);
  expect(shownOffers(prompt).map((one) => one.index)).toEqual([1]);
  expect(hiddenOffers(prompt)).toBe("Not offered here: 1 of the agent's suggestions.");
});

test("a prompt of an older gateway has suggestions that nobody describes", () => {
  const prompt = promptWith([], [{ type: "addRules" }, { type: "setMode", mode: "acceptEdits" }]);
  expect(shownOffers(prompt)).toEqual([]);
  expect(hiddenOffers(prompt)).toBe("Not offered here: 2 of the agent's suggestions.");
  expect(hiddenOffers(promptWith([]))).toBe("");
});

test("nothing hides in an offer", () => {
  const rules = [{ tool: "Bash", pattern: "ls\u202e" }];
  const [words] = said({ ...HERE, label: "Al\u202eways", rules });
  expect(words?.match(/⟨U\+202E⟩/g)).toHaveLength(2);
});

test("offers of a denial stand last", () => {
  const never = { ...HERE, label: "Always deny", decision: "deny" };
  const shown = shownOffers(promptWith([never, { ...HERE, label: "Always allow" }]));
  expect(shown.map((one) => [one.index, one.decision])).toEqual([
    [1, "allow"],
    [0, "deny"],
  ]);
});

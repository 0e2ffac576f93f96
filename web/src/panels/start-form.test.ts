import { expect, test } from "vitest";
import {
  type Draft,
  EMPTY,
  agentWords,
  chosenOf,
  missing,
  offeredOf,
  paramsOf,
  whoIsHere,
} from "./start-form.ts";

const DRAFT: Draft = { ...EMPTY, agent: "claude", cwd: " /w " };

test("what is left empty is left to the agent", () => {
  expect(paramsOf(DRAFT, "ask")).toEqual({ agent: "claude", cwd: "/w", folder: "ask" });
});

test("what is filled in goes as the gateway takes it", () => {
  const draft: Draft = {
    ...DRAFT,
    title: "T",
    model: "opus",
    mode: "plan",
    effort: "high",
    start: "resume",
    resume: " id ",
    fork: true,
    more: { max_turns: "3", max_budget_usd: "0.5", add_dirs: "/a\n\n /b", fast: true, betas: " " },
  };
  expect(paramsOf(draft, "restrict")).toEqual({
    agent: "claude",
    cwd: "/w",
    title: "T",
    model: "opus",
    mode: "plan",
    resume: "id",
    fork: true,
    options: {
      effort: "high",
      max_turns: 3,
      max_budget_usd: 0.5,
      add_dirs: ["/a", "/b"],
      fast: true,
    },
    folder: "restrict",
  });
});

test.each([
  [{ start: "continue" }, { continue_latest: true }],
  [{ start: "pr", pr: "12" }, { from_pr: "12" }],
  [{ start: "new", fork: true, resume: "left over" }, {}],
] as const)("a beginning %j", (change, wanted) => {
  const { agent: _, cwd: __, folder: ___, ...rest } = paramsOf({ ...DRAFT, ...change }, "ask");
  expect(rest).toEqual(wanted);
});

test.each([
  [{}, ""],
  [{ agent: "" }, "Choose an agent."],
  [{ cwd: "w" }, "Which folder?"],
  [{ start: "resume" }, "Which conversation?"],
  [{ start: "pr" }, "Which pull request?"],
] as const)("with %j it says what is missing", (change, words) => {
  expect(missing({ ...DRAFT, ...change }).slice(0, words.length)).toBe(words);
  expect(words === "").toBe(missing({ ...DRAFT, ...change }) === "");
});

test("an agent that cannot be used says why", () => {
  const [here, gone] = offeredOf({
    agents: [
      { name: "claude", installed: true, version: "2.1.325" },
      { name: "codex", installed: false, problem: "agent_not_found" },
    ],
  }).agents;
  expect(agentWords(here!)).toBe("claude 2.1.325");
  expect(agentWords(gone!)).toBe("codex: not installed");
});

test.each([
  ["demo", "", "demo"],
  ["demo", "claude", "claude"],
  ["codex", "", "claude"],
  ["", "codex", "claude"],
])("usual %s and wanted %s: %s is chosen", (usual, wanted, chosen) => {
  const offered = offeredOf({
    agents: [
      { name: "claude", installed: true },
      { name: "codex", installed: false },
      { name: "demo", installed: true },
    ],
    default: usual,
  });
  expect(chosenOf(offered, wanted)?.name).toBe(chosen);
});

test("modes and efforts are offered from the careful to the bold", () => {
  const [one] = offeredOf({
    agents: [{ name: "a", modes: ["acceptEdits", "default"], efforts: ["high", "low"] }],
  }).agents;
  expect([one?.modes, one?.efforts]).toEqual([
    ["default", "acceptEdits"],
    ["low", "high"],
  ]);
});

test.each([
  [[], "None is installed"],
  [["demo"], "no account, no cost"],
  [["claude", "demo"], "Here are: claude, demo."],
])("of %j a newcomer hears", (names, words) => {
  const all = [{ name: "gone", installed: false }];
  const agents = [...all, ...names.map((name) => ({ name, installed: true }))];
  expect(whoIsHere({ agents })).toContain(words);
});

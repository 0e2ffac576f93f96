import { expect, test } from "vitest";
import {
  type Draft,
  EMPTY,
  type Field,
  agentWords,
  chosenOf,
  missing,
  offeredOf,
  paramsOf,
  whoIsHere,
} from "./start-form.ts";

function fieldsFor(...options: readonly unknown[]): readonly Field[] {
  const agents = [{ name: "a", options, common: ["budget_usd"] }];
  return offeredOf({ agents }).agents[0]!.fields;
}

const CLAUDE = fieldsFor(
  { name: "max_turns", type: "number", integer: true },
  { name: "add_dirs", type: "list" },
  { name: "fast", type: "flag" },
  { name: "betas", type: "list" },
);
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
    more: { max_turns: "3", budget_usd: "0.5", add_dirs: "/a\n\n /b", fast: true, betas: " " },
  };
  expect(paramsOf(draft, "restrict", CLAUDE)).toEqual({
    agent: "claude",
    cwd: "/w",
    title: "T",
    model: "opus",
    mode: "plan",
    resume: "id",
    fork: true,
    effort: "high",
    budget_usd: 0.5,
    agent_options: { max_turns: 3, add_dirs: ["/a", "/b"], fast: true },
    folder: "restrict",
  });
});

test.each([
  [{ type: "flag" }, "flag", true, true],
  [{ type: "text" }, "text", " a ", "a"],
  [{ type: "text", long: true }, "area", "a\nb", "a\nb"],
  [{ type: "path" }, "text", "/a", "/a"],
  [{ type: "json" }, "area", "{}", "{}"],
  [{ type: "number", integer: true }, "count", "3", 3],
  [{ type: "number" }, "amount", "0.5", 0.5],
  [{ type: "choice", choices: ["a", "b"] }, "select", "b", "b"],
  [{ type: "list" }, "lines", "a\n b", ["a", "b"]],
  [{ type: "of tomorrow" }, "text", "a", "a"],
] as const)("an option %j is a field %s", (option, kind, typed, value) => {
  const field = fieldsFor({ name: "x", ...option })[1]!;
  expect([field.kind, field.label, field.admin, field.advanced]).toEqual([kind, "x", true, true]);
  const draft = { ...DRAFT, more: { x: typed, other: "of another agent" } };
  expect(paramsOf(draft, "ask", [field])["agent_options"]).toEqual({ x: value });
});

test("an agent without a budget has no field for one", () => {
  const [agent] = offeredOf({ agents: [{ name: "a", options: [{ name: "x" }] }] }).agents;
  expect(agent?.fields.map((one) => one.name)).toEqual(["x"]);
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

test("modes are offered in the published order, efforts from the least to the most", () => {
  const modes = ["plan", "auto", "default"];
  const [one] = offeredOf({
    agents: [
      {
        name: "a",
        kind: "courier",
        history: true,
        modes,
        known_modes: [{ id: "auto", freedom: 1, name: "By itself" }],
        efforts: ["high", "low"],
      },
    ],
  }).agents;
  expect([one?.history, one?.modes, one?.efforts]).toEqual(["courier", modes, ["low", "high"]]);
  expect(one?.known.get("auto")?.name).toBe("By itself");
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

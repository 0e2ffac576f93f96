/** A session that is to be opened, as it is typed in, and as the gateway wants it. */
import { type Modes, effortsInOrder, modesOf } from "../store/modes.ts";
import { fieldsOf, listOf, own, textOf, textsOf } from "../store/values.ts";

export interface Agent {
  readonly name: string;
  /** The kind whose past conversations can be listed for it; "": there is no history. */
  readonly history: string;
  readonly installed: boolean;
  readonly problem: string;
  readonly version: string;
  readonly resumes: boolean;
  readonly modes: readonly string[];
  /** What it publishes about its modes. */
  readonly known: Modes;
  readonly efforts: readonly string[];
  /** What else can be set, in the order of the form. */
  readonly fields: readonly Field[];
}

export interface Offered {
  readonly agents: readonly Agent[];
  /** Which one to offer first. */
  readonly first: string;
  /** A folder to offer where none is known yet. */
  readonly folder: string;
}

export function offeredOf(raw: unknown): Offered {
  const told = fieldsOf(raw);
  return {
    agents: agentsOf(told["agents"]),
    first: textOf(told["default"]),
    folder: textOf(told["folder"]),
  };
}

function agentsOf(raw: unknown): readonly Agent[] {
  return listOf(raw).map((value) => {
    const one = fieldsOf(value);
    return {
      name: textOf(one["name"]),
      history: one["history"] === true ? textOf(one["kind"]) : "",
      installed: one["installed"] === true,
      problem: textOf(one["problem"]),
      version: textOf(one["version"]),
      resumes: one["resumes"] === true,
      modes: textsOf(one["modes"]),
      known: modesOf(one["known_modes"]),
      efforts: effortsInOrder(textsOf(one["efforts"])),
      fields: formOf(one["options"], textsOf(one["common"])),
    };
  });
}

/** The one to begin with: the wanted one, else the usual one, else any that can be used. */
export function chosenOf({ agents, first }: Offered, wanted: string): Agent | undefined {
  const usable = agents.filter((one) => one.installed);
  const named = (name: string): Agent | undefined => usable.find((one) => one.name === name);
  return named(wanted) ?? named(first) ?? usable[0];
}

/** Which agents there are, for somebody who has not used any here. */
export function whoIsHere(raw: unknown): string {
  const names = offeredOf(raw)
    .agents.filter((one) => one.installed)
    .map((one) => one.name);
  if (names.length === 0) return "None is installed yet: flybridge doctor says how to get one.";
  if (names.join() === "demo") return "The demo agent is here: no account, no cost.";
  return `Here are: ${names.join(", ")}.`;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  agent_not_found: "not installed",
  agent_start: "does not start",
  agent_exited: "ends at once",
};

export function agentWords(agent: Agent): string {
  if (!agent.installed) {
    return `${agent.name}: ${own(PROBLEMS, agent.problem) ?? agent.problem ?? "cannot be used"}`;
  }
  return agent.version === "" ? agent.name : `${agent.name} ${agent.version}`;
}

export interface Draft {
  readonly agent: string;
  readonly cwd: string;
  readonly title: string;
  readonly model: string;
  readonly mode: string;
  readonly effort: string;
  /** What it begins with. */
  readonly start: "new" | "continue" | "resume" | "pr";
  readonly resume: string;
  readonly pr: string;
  readonly fork: boolean;
  /** Fields of the agent's options, as they were typed. */
  readonly more: Readonly<Record<string, string | boolean>>;
}

export const EMPTY: Draft = {
  agent: "",
  cwd: "",
  title: "",
  model: "",
  mode: "",
  effort: "",
  start: "new",
  resume: "",
  pr: "",
  fork: false,
  more: {},
};

/** `lines`: one value a line. */
export type FieldKind = "text" | "lines" | "area" | "count" | "amount" | "flag" | "select";

/** A part of the form, generated from an option that the agent publishes. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly hint: string;
  readonly about: string;
  readonly choices: readonly string[];
  /** What can grant more than a person would: only an administrator may. */
  readonly admin: boolean;
  /** Shown only on request. */
  readonly advanced: boolean;
}

export const BUDGET = "budget_usd";

/** The form's part for an option; one of a type that is not known here is text. */
export function fieldOf(raw: unknown): Field {
  const option = fieldsOf(raw);
  const name = textOf(option["name"]);
  return {
    name,
    label: textOf(option["label"]) || name,
    kind: kindOf(option),
    hint: textOf(option["hint"]),
    about: textOf(option["description"]),
    choices: textsOf(option["choices"]),
    admin: option["grants"] !== false,
    advanced: option["advanced"] !== false,
  };
}

function kindOf(option: Readonly<Record<string, unknown>>): FieldKind {
  switch (option["type"]) {
    case "flag":
      return "flag";
    case "choice":
      return "select";
    case "list":
      return "lines";
    case "json":
      return "area";
    case "number":
      return option["integer"] === true ? "count" : "amount";
    default:
      return option["long"] === true ? "area" : "text";
  }
}

/** The limit that every agent has which can keep to one. */
const BUDGET_FIELD: Field = {
  ...fieldOf({ name: BUDGET, label: "Most to spend, in $", type: "number", grants: false }),
};

function formOf(options: unknown, common: readonly string[]): readonly Field[] {
  const own = listOf(options).map(fieldOf);
  return common.includes(BUDGET) ? [BUDGET_FIELD, ...own] : own;
}

export type Folder = "ask" | "trust" | "restrict";

export interface OpenParams {
  agent: string;
  cwd: string;
  [key: string]: unknown;
}

/** What is empty is left out: it is then as the agent has it. */
export function paramsOf(draft: Draft, folder: Folder, fields: readonly Field[] = []): OpenParams {
  const { [BUDGET]: budget, ...options } = optionsOf(draft, fields);
  return {
    agent: draft.agent,
    cwd: draft.cwd.trim(),
    ...(draft.title.trim() === "" ? {} : { title: draft.title.trim() }),
    ...(draft.model.trim() === "" ? {} : { model: draft.model.trim() }),
    ...(draft.mode === "" ? {} : { mode: draft.mode }),
    ...beginning(draft),
    ...(draft.effort === "" ? {} : { effort: draft.effort }),
    ...(budget === undefined ? {} : { [BUDGET]: budget }),
    ...(Object.keys(options).length === 0 ? {} : { agent_options: options }),
    folder,
  };
}

function beginning(draft: Draft): Record<string, unknown> {
  const fork = draft.fork ? { fork: true } : {};
  switch (draft.start) {
    case "continue":
      return { continue_latest: true, ...fork };
    case "resume":
      return { resume: draft.resume.trim(), ...fork };
    case "pr":
      return { from_pr: draft.pr.trim(), ...fork };
    case "new":
      return {};
  }
}

function optionsOf(draft: Draft, fields: readonly Field[]): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const field of fields) {
    const value = valueOf(field, draft.more[field.name]);
    if (value !== undefined) found[field.name] = value;
  }
  return found;
}

function valueOf(field: Field, typed: string | boolean | undefined): unknown {
  if (field.kind === "flag") return typed === true ? true : undefined;
  const text = textOf(typed).trim();
  if (text === "") return undefined;
  switch (field.kind) {
    case "lines":
      return text
        .split("\n")
        .map((one) => one.trim())
        .filter(Boolean);
    case "count":
      return Math.max(0, Math.round(Number(text))) || undefined;
    case "amount":
      return Math.max(0, Number(text)) || undefined;
    default:
      return text;
  }
}

/** Why it cannot be opened as it is, before anybody is asked; "": it can. */
export function missing(draft: Draft): string {
  if (draft.agent === "") return "Choose an agent.";
  if (!draft.cwd.trim().startsWith("/")) {
    return "Which folder? Give its whole path, such as /home/you/project.";
  }
  if (draft.start === "resume" && draft.resume.trim() === "") {
    return "Which conversation? Choose one, or find it in History.";
  }
  if (draft.start === "pr" && draft.pr.trim() === "") {
    return "Which pull request? Give its number or address.";
  }
  return "";
}

const REFUSALS: Readonly<Record<string, string>> = {
  offline: "There is no connection to the gateway.",
  agent_not_found: "This agent is not installed here. flybridge doctor says how to get it.",
};

export function refusalWords(code: string, words: string): string {
  return own(REFUSALS, code) ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

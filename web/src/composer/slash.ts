/**
 * Lines that begin with a slash. Most are the agent's and are sent as they are; a few belong to the
 * program around it, and where that is a terminal for the agent, it is this page here.
 */
import type { Command } from "../protocol.gen.ts";
import type { InspectorTab, Panel } from "../store/ui.ts";

/** `here`: this page does it. `agent`: the agent does, without its model. `prompt`: its model does. */
export type Group = "here" | "agent" | "prompt";

export const GROUPS: Readonly<Record<Group, string>> = {
  here: "On this page",
  agent: "By the agent itself",
  prompt: "Prompts",
};

export interface SlashCommand {
  readonly name: string;
  readonly group: Group;
  readonly about: string;
  readonly hint: string;
}

/** What has to be known to decide: what the agent lists, what it can be told, and how it is set. */
export interface Known {
  /** Name → local, prompt or ui. */
  readonly listed: Readonly<Record<string, string>>;
  readonly commands: ReadonlySet<string>;
  readonly fast: boolean;
}

export type Does =
  | { readonly does: "send"; readonly text: string }
  | { readonly does: "panel"; readonly panel: Panel }
  | { readonly does: "tab"; readonly tab: InspectorTab }
  | { readonly does: "history" }
  | { readonly does: "clear" }
  | { readonly does: "tell"; readonly command: Command }
  | { readonly does: "say"; readonly text: string };

interface Ours {
  readonly name: string;
  readonly about: string;
  readonly hint?: string;
  readonly aliases?: readonly string[];
  /** Only where the agent has nothing of that name. */
  readonly yields?: boolean;
  readonly run: (rest: string, known: Known) => Does;
}

const panel =
  (name: Panel): Ours["run"] =>
  () => ({ does: "panel", panel: name });

const OURS: readonly Ours[] = [
  { name: "help", about: "What can be done here", run: panel("help") },
  { name: "config", about: "Settings", run: panel("settings") },
  { name: "settings", about: "Settings", yields: true, run: panel("settings") },
  {
    name: "keybindings-help",
    about: "Keys, and how to change them",
    aliases: ["keybindings", "keys"],
    run: panel("keys"),
  },
  { name: "model", about: "Use another model", hint: "name", run: setModel },
  { name: "mode", about: "Use another permission mode", hint: "name", run: setMode },
  { name: "effort", about: "Try harder, or less hard", hint: "level", run: setEffort },
  { name: "fast", about: "Quicker answers for more money", hint: "on | off", run: setFast },
  { name: "mcp", about: "MCP servers", run: () => ({ does: "tab", tab: "mcp" }) },
  { name: "rename", about: "Give the session a title", hint: "title", run: rename },
  { name: "export", about: "Save the conversation", run: panel("export") },
  { name: "resume", about: "Earlier conversations", run: () => ({ does: "history" }) },
  { name: "clear", about: "Clear the view", yields: true, run: () => ({ does: "clear" }) },
];

function setModel(rest: string, known: Known): Does {
  if (rest === "") return { does: "panel", panel: "settings" };
  if (!known.commands.has("set_model")) return refuses("model");
  return { does: "tell", command: { type: "set_model", model: rest } };
}

function setMode(rest: string, known: Known): Does {
  if (rest === "") return { does: "panel", panel: "settings" };
  if (!known.commands.has("set_mode")) return refuses("mode");
  return { does: "tell", command: { type: "set_mode", mode: rest } };
}

function setEffort(rest: string, known: Known): Does {
  if (rest === "") return { does: "panel", panel: "settings" };
  if (!known.commands.has("set_effort")) return refuses("effort");
  return { does: "tell", command: { type: "set_effort", effort: rest } };
}

function setFast(rest: string, known: Known): Does {
  // settings say why there is none, and offer other models
  if (!known.commands.has("set_fast")) return { does: "panel", panel: "settings" };
  const on = rest === "" ? !known.fast : rest === "on";
  return { does: "tell", command: { type: "set_fast", on } };
}

function rename(rest: string): Does {
  if (rest === "") return { does: "panel", panel: "rename" };
  return { does: "tell", command: { type: "rename", title: rest } };
}

function refuses(what: string): Does {
  return { does: "say", text: `This agent cannot change its ${what} while it runs.` };
}

const LINE = /^(\/\/?)([A-Za-z0-9][\w:.-]*)(?:\s+([\s\S]*))?$/;

function ourOf(name: string, known: Known): Ours | undefined {
  const found = OURS.find((one) => one.name === name || one.aliases?.includes(name) === true);
  return found?.yields === true && Object.hasOwn(known.listed, name) ? undefined : found;
}

/** Whether this page does what is called so. */
export function isOurs(name: string, known: Known): boolean {
  return ourOf(name.toLowerCase(), known) !== undefined;
}

/** What a message does. With two slashes, what is ours goes to the agent too. */
export function slashDoes(text: string, known: Known): Does {
  const found = LINE.exec(text.trim());
  if (found === null) return { does: "send", text };
  const [, slashes, name = "", rest = ""] = found;
  const ours = ourOf(name.toLowerCase(), known);
  if (ours === undefined) return { does: "send", text };
  if (slashes === "//") return { does: "send", text: text.trim().slice(1) };
  return ours.run(rest.trim(), known);
}

/** Everything that may follow a slash. What belongs to the agent's own terminal does nothing here. */
export function slashCommands(
  known: Known,
  about: ReadonlyMap<string, { readonly about: string; readonly hint: string }>,
): readonly SlashCommand[] {
  const here = OURS.filter((one) => ourOf(one.name, known) === one).map((one) => ({
    name: one.name,
    group: "here" as const,
    about: one.about,
    hint: one.hint ?? "",
  }));
  const taken = new Set(here.map((one) => one.name));
  const theirs = Object.entries(known.listed)
    .filter(([name, category]) => category !== "ui" && !taken.has(name))
    .map(([name, category]) => ({
      name,
      group: category === "local" ? ("agent" as const) : ("prompt" as const),
      about: about.get(name)?.about ?? "",
      hint: about.get(name)?.hint ?? "",
    }));
  return [...theirs.filter(isAgents), ...here, ...theirs.filter((one) => !isAgents(one))];
}

function isAgents(one: SlashCommand): boolean {
  return one.group === "agent";
}

/** What a tool is used on, in one line: the file, the command, the pattern. */
import type { Json, ToolItem } from "../store/items.ts";
import { fieldsOf, leading, listOf, parsed, textOf } from "../store/values.ts";

const FIRST = [
  "command",
  "file_path",
  "notebook_path",
  "path",
  "pattern",
  "query",
  "url",
  "description",
  "subject",
  "skill",
  "prompt",
];
const LONGEST = 160;

/** The input, or what can be read of it while it is still written. */
export function inputOf(item: ToolItem): Json {
  if (item.input !== undefined && item.input !== null) return item.input;
  return item.draft === "" ? null : (parsed(item.draft) ?? leading(item.draft));
}

export function targetOf(item: ToolItem, cwd = ""): string {
  const about = aboutOf(item, cwd);
  return about === "" ? fromInput(item, cwd) : oneLine(about);
}

/** What its driver says that a call is used on; "": nothing, as of one that is still written. */
function aboutOf({ tool, subject }: ToolItem, cwd: string): string {
  const places = subject.paths.map((path) => shortPath(path, cwd)).join(", ");
  if (tool === "search") {
    const inside = subject.paths.every((path) => path === cwd) ? "" : places;
    return [subject.title, inside].filter(Boolean).join(" in ");
  }
  return subject.command || subject.url || places || subject.title;
}

/** The same, of a call without a subject: from the fields that say most. */
function fromInput(item: ToolItem, cwd: string): string {
  const given = fieldsOf(inputOf(item));
  switch (item.name) {
    case "Glob":
    case "Grep":
      return oneLine([textOf(given["pattern"]), inFolder(given, cwd)].filter(Boolean).join(" in "));
    case "Task":
    case "Agent":
      return oneLine(textOf(given["description"]) || textOf(given["prompt"]));
    case "TodoWrite":
      return `${listOf(given["todos"]).length} tasks`;
    case "TaskUpdate":
      return [textOf(given["taskId"]), textOf(given["status"])].filter(Boolean).join(": ");
    case "ToolSearch":
      return oneLine(textOf(given["query"]));
    default: {
      const found = FIRST.map((name) => textOf(given[name])).find((one) => one !== "");
      const any = found ?? Object.values(given).find((one) => typeof one === "string");
      return oneLine(shortPath(textOf(any), cwd));
    }
  }
}

/** A path below the session's folder is said from there. */
export function shortPath(path: string, cwd: string): string {
  const root = cwd.replace(/\/+$/, "");
  return root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

function inFolder(given: { [key: string]: Json }, cwd: string): string {
  const path = shortPath(textOf(given["path"]), cwd);
  return path === cwd ? "" : path;
}

function oneLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  const cut = line.length > LONGEST || text.trim().includes("\n");
  return cut ? `${line.slice(0, LONGEST)} …` : line;
}

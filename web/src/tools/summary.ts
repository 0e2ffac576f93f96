/** What came of a tool, in a few words at the end of its line. */
import type { ToolItem } from "../store/items.ts";
import { counted } from "../store/reduce-items.ts";
import { kindOf } from "../store/tool-kinds.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";
import { hasPicture } from "./picture-data.ts";
import { sourcesOf } from "./sources.ts";

/** How far a call has come that is still being written. */
function writing(item: ToolItem): string {
  if (item.draft.length < LONG_DRAFT) return "";
  const rows = item.draft.split("\\n").length;
  return rows > 1 ? plural(rows, "line") : "";
}

/** Shorter ones are there before anybody has read how long they are. */
const LONG_DRAFT = 400;

export function summaryOf(item: ToolItem): string {
  if (item.stopped) return "interrupted";
  switch (item.status) {
    case "denied":
      return item.decision?.how === "declined" ? "declined" : "denied";
    case "error":
      return exitCode(item.text) ?? "failed";
    case "partial":
      return "cut off";
    case "discarded":
      return "taken back";
    case "writing":
      return writing(item);
    case "ok":
      return finished(item);
    default:
      return "";
  }
}

function finished(item: ToolItem): string {
  const detail = fieldsOf(item.detail);
  if (item.name === "AskUserQuestion") {
    return Object.values(fieldsOf(detail["answers"])).map(textOf).filter(Boolean).join(", ");
  }
  switch (kindOf(item.tool, item.name)) {
    case "read":
      return readSummary(item);
    case "search": {
      const files = numberOf(detail["numFiles"]) || listOf(detail["filenames"]).length;
      return files > 0 ? plural(files, "file") : printed(item);
    }
    case "execute":
      return item.text === "" ? "no output" : printed(item);
    case "agent": {
      const tools = numberOf(detail["totalToolUseCount"]);
      return tools > 0 ? plural(tools, "tool") : "";
    }
    case "fetch": {
      const found = sourcesOf(detail["results"] ?? null, "").length;
      return found > 0 ? plural(found, "result") : "";
    }
    default:
      return "";
  }
}

/** Of a long output only the beginning is here. */
function printed(item: ToolItem): string {
  return item.blob === "" ? plural(lines(item.text), "line") : "over 64 KB";
}

function readSummary(item: ToolItem): string {
  if (hasPicture(item)) return "picture";
  const file = fieldsOf(fieldsOf(item.detail)["file"]);
  const told =
    numberOf(file["numLines"]) ||
    (textOf(file["content"]) === "" ? 0 : lines(textOf(file["content"])));
  const cells = listOf(file["cells"]).length;
  if (cells > 0) return plural(cells, "cell");
  return told > 0 ? plural(told, "line") : printed(item);
}

/** Lines added and taken away by all of its differences. */
export function changedLines(item: ToolItem): { added: number; removed: number } {
  return item.diffs.reduce(
    (sum, one) => {
      const { added, removed } = counted(one.patch);
      return { added: sum.added + added, removed: sum.removed + removed };
    },
    { added: 0, removed: 0 },
  );
}

export function exitCode(text: string): string | undefined {
  const found = /^Exit code (\d+)/.exec(text);
  return found?.[1] === undefined ? undefined : `exit ${found[1]}`;
}

function lines(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

function plural(n: number, word: string): string {
  return n === 1 ? `1 ${word}` : `${n.toLocaleString("en")} ${word}s`;
}

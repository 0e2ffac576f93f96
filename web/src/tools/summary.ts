/** What came of a tool, in a few words at the end of its line. */
import type { ToolItem } from "../store/items.ts";
import { counted } from "../store/reduce-items.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";

export function summaryOf(item: ToolItem): string {
  switch (item.status) {
    case "denied":
      return "denied";
    case "error":
      return exitCode(item.text) ?? "failed";
    case "partial":
      return "cut off";
    case "discarded":
      return "taken back";
    case "ok":
      return finished(item);
    default:
      return "";
  }
}

function finished(item: ToolItem): string {
  const detail = fieldsOf(item.detail);
  switch (item.name) {
    case "Read":
      return readSummary(item);
    case "Edit":
    case "MultiEdit":
    case "Write":
    case "NotebookEdit":
      return "";
    case "Glob":
    case "Grep": {
      const files = numberOf(detail["numFiles"]) || numberOf(detail["numMatches"]);
      return files > 0 ? plural(files, "file") : plural(lines(item.text), "line");
    }
    case "Bash":
      return item.text === "" ? "no output" : plural(lines(item.text), "line");
    case "Task":
    case "Agent": {
      const tools = numberOf(detail["totalToolUseCount"]);
      return tools > 0 ? plural(tools, "tool") : "";
    }
    case "WebSearch": {
      const found = listOf(detail["results"]).length;
      return found > 0 ? plural(found, "result") : "";
    }
    default:
      return "";
  }
}

function readSummary(item: ToolItem): string {
  const file = fieldsOf(fieldsOf(item.detail)["file"]);
  const told =
    numberOf(file["numLines"]) ||
    (textOf(file["content"]) === "" ? 0 : lines(textOf(file["content"])));
  return plural(told || lines(item.text), "line");
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

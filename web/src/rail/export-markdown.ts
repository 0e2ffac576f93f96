/** A transcript as a document to read: who said what, and what was done, in order. */
import type { Content } from "../protocol.gen.ts";
import type { Item, ToolItem } from "../store/items.ts";
import type { Transcript } from "../store/reduce.ts";
import { titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import { fieldsOf, listOf, textOf } from "../store/values.ts";
import { duration, money } from "../parts/spoken.ts";
import { isSaid } from "../timeline/told.ts";

const MAX_LINES = 200;

export function markdownOf(from: Transcript, row: Row | undefined, session: string): string {
  const title = titleOf(row ?? { title: "", cwd: "", session });
  const facts = [
    `- Session: \`${session}\``,
    ...(row === undefined ? [] : [`- Agent: ${row.agent}`, `- Folder: \`${row.cwd}\``]),
    ...(row?.model ? [`- Model: ${row.model}`] : []),
    ...(row?.costUsd ? [`- Cost: ${money(row.costUsd)}`] : []),
  ];
  const parts = [`# ${oneLine(title)}`, facts.join("\n"), ...children(from, "", 0)];
  return `${parts.filter((one) => one !== "").join("\n\n")}\n`;
}

function children(from: Transcript, parent: string, depth: number): string[] {
  let failure: Item | undefined; // of the turn so far
  return (from.children.get(parent) ?? []).flatMap((id) => {
    const item = from.items.get(id);
    if (item === undefined) return [];
    const own = partOf(item, failure);
    if (item.kind === "note" && item.note === "error") failure = item;
    if (item.kind === "result") failure = undefined;
    // a sub-agent's work stands quoted below the call that started it
    const inner = depth < 4 ? children(from, id, depth + 1).map(quoted) : [];
    return [...own, ...inner];
  });
}

function partOf(item: Item, failure: Item | undefined): string[] {
  switch (item.kind) {
    case "user":
      return [`## ${item.by.split(":").pop() || "You"}`, contentOf(item.content)];
    case "text":
      return [item.text + cut(item.blob)];
    case "thinking":
      if (item.text === "") return [];
      return [`<details><summary>Thinking</summary>\n\n${item.text}\n\n</details>`];
    case "tool":
      return toolOf(item);
    case "plan":
      return ["### Plan", item.text + cut(item.blob)];
    case "result":
      return [
        `*${[
          item.reason,
          failure !== undefined && isSaid(item.message, failure) ? "" : oneLine(item.message),
          item.startedMs > 0 ? duration(item.atMs - item.startedMs) : "",
          item.costUsd > 0 ? money(item.costUsd) : "",
        ]
          .filter(Boolean)
          .join(" · ")}*`,
      ];
    case "note":
      return item.text === "" ? [] : [`*${item.note}: ${oneLine(item.text)}*`];
  }
}

function contentOf(content: readonly Content[]): string {
  return content
    .map((one) => (one.type === "text" ? one.text : `*(${one.media_type})*`))
    .join("\n\n");
}

function toolOf(item: ToolItem): string[] {
  const input = fieldsOf(item.input);
  const target = ["command", "file_path", "path", "pattern", "url", "query", "description"]
    .map((key) => textOf(input[key]))
    .find((one) => one !== "");
  const named =
    target === undefined ? "" : ` \`${oneLine(target).slice(0, 120).replaceAll("`", "'")}\``;
  const head = `### ${oneLine(item.name)}${named}${item.status === "ok" ? "" : ` (${item.status})`}`;
  const decided = item.decision === undefined ? [] : [`*${item.decision.how}*`];
  if (item.asked !== undefined) {
    const asked = fenced(shortened(JSON.stringify(item.asked, null, 2)), "json");
    decided.push(
      `*changed by ${item.decision?.by.split(":").pop() || "a person"}; the agent had asked:*`,
      asked,
    );
  }
  const diffs = item.diffs.map((one) => fenced(patchText(one.patch), "diff"));
  const rest =
    item.text.trim() === "" ? [] : [fenced(shortened(item.text), "text") + cut(item.blob)];
  return [head, ...decided, ...(diffs.length > 0 ? diffs : rest)];
}

function patchText(patch: unknown): string {
  return shortened(
    listOf(patch)
      .flatMap((hunk) => listOf(fieldsOf(hunk)["lines"]).map(textOf))
      .join("\n"),
  );
}

/** Whatever is inside, the fence around it is longer. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((one) => one[0].length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function shortened(text: string): string {
  const lines = text.split("\n");
  const left = lines.length - MAX_LINES;
  return left > 0 ? `${lines.slice(0, MAX_LINES).join("\n")}\n… ${left} more lines` : text;
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((one) => (one === "" ? ">" : `> ${one}`))
    .join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function cut(blob: string): string {
  return blob === "" ? "" : "\n\n*(the rest is too long to be here)*";
}

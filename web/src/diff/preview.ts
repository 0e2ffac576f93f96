/** What an edit would change, told from the input of its tool before anybody allowed it. */

import { structuredPatch } from "diff";
import { type Subject, isCut } from "../store/tool-kinds.ts";
import type { Hunk } from "./hunks.ts";
import { hunksAround } from "./landmarks.ts";

export interface Preview {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  /** The numbers of the lines are those of the file. An edit does not say where it will land. */
  readonly numbered: boolean;
  /** A remark a person should see beside the change, or "". */
  readonly note: string;
}

const CONTEXT = 3;
const MOST_EDITS = 1000;
const MOST_PARTS = 200;
/** Lines above which another way is taken, which never takes long. */
const LARGE = 2000;

type Input = Readonly<Record<string, unknown>>;

/** The change that a call is about, as its driver describes it: for agents whose input is not known. */
export function previewOfSubject(subject: Subject): Preview | null {
  if (subject.diff === "") return null;
  const parts = subject.diff.split(/^@@.*$\n?/m).filter((part) => part !== "");
  const hunks = parts.map((part) => hunkOfLines(linesOf(part)));
  const note = isCut(subject.diff) ? "only its beginning" : "";
  return { path: subject.paths.join(", "), hunks, numbered: false, note };
}

function hunkOfLines(lines: readonly string[]): Hunk {
  const count = (sign: string): number => lines.filter((line) => !line.startsWith(sign)).length;
  return { oldStart: 1, oldLines: count("+"), newStart: 1, newLines: count("-"), lines };
}

/** The change a tool would make; null for a tool or an input that is not known. */
export function previewOf(tool: string, input: unknown): Preview | null {
  if (typeof input !== "object" || input === null) return null;
  const told = input as Input;
  switch (tool) {
    case "Edit":
      return edit(told);
    case "MultiEdit":
      return multiEdit(told);
    case "Write":
      return write(told);
    case "NotebookEdit":
      return notebook(told);
    default:
      return null;
  }
}

/** The difference of two texts. Too different ones are all removed and all added. */
export function hunksBetween(before: string, after: string): readonly Hunk[] {
  if (before === after) return [];
  const [old, fresh] = [linesOf(before), linesOf(after)];
  if (old.length + fresh.length > LARGE) return hunksAround(old, fresh);
  const patch = structuredPatch("", "", before, after, "", "", {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  });
  return patch === undefined ? [replaced(before, after)] : patch.hunks;
}

function replaced(before: string, after: string): Hunk {
  const old = linesOf(before);
  const fresh = linesOf(after);
  return {
    oldStart: old.length > 0 ? 1 : 0,
    oldLines: old.length,
    newStart: fresh.length > 0 ? 1 : 0,
    newLines: fresh.length,
    lines: [...old.map((one) => `-${one}`), ...fresh.map((one) => `+${one}`)],
  };
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function words(told: Input, name: string): string | null {
  const said = told[name];
  return typeof said === "string" ? said : null;
}

function edit(told: Input): Preview | null {
  const path = words(told, "file_path");
  const part = partOf(told);
  if (path === null || part === null) return null;
  const everywhere = told["replace_all"] === true;
  return { path, ...part, numbered: false, note: everywhere ? "everywhere in the file" : "" };
}

function partOf(told: Input): { readonly hunks: readonly Hunk[] } | null {
  const before = words(told, "old_string");
  const after = words(told, "new_string");
  if (before === null || after === null) return null;
  return { hunks: hunksBetween(ended(before), ended(after)) };
}

/** Parts of a file seldom end with a line; a remark about that would only be noise. */
function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function multiEdit(told: Input): Preview | null {
  const path = words(told, "file_path");
  const edits = told["edits"];
  if (path === null || !Array.isArray(edits)) return null;
  const parts = (edits as readonly unknown[])
    .slice(0, MOST_PARTS)
    .map((one) => (typeof one === "object" && one !== null ? partOf(one as Input) : null));
  const known = parts.filter((one) => one !== null);
  const missing = edits.length - known.length;
  const note = missing > 0 ? `${missing} more that cannot be shown` : "";
  return { path, hunks: known.flatMap((one) => one.hunks), numbered: false, note };
}

function write(told: Input): Preview | null {
  const path = words(told, "file_path");
  const content = words(told, "content");
  if (path === null || content === null) return null;
  const note = "the whole file will be this";
  return { path, hunks: content === "" ? [] : [replaced("", content)], numbered: true, note };
}

function notebook(told: Input): Preview | null {
  const path = words(told, "notebook_path");
  if (path === null) return null;
  const cell = words(told, "cell_id");
  const note = `${words(told, "edit_mode") ?? "replace"} ${cell === null ? "a cell" : `cell ${cell}`}`;
  const source = words(told, "new_source") ?? "";
  return { path, hunks: source === "" ? [] : [replaced("", source)], numbered: false, note };
}

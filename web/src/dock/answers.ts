/** Answers to questions while they are chosen: by the question's place, so that none mixes with another. */
import type { Question } from "../store/items.ts";
import { fieldsOf, listOf, textOf, textsOf } from "../store/values.ts";

export interface Chosen {
  /** Labels that are ticked. */
  readonly labels: readonly string[];
  /** Words of one's own, and whether they count. */
  readonly other: string;
  readonly useOther: boolean;
}

export type Sheet = readonly Chosen[];

const NOTHING: Chosen = { labels: [], other: "", useOther: false };

export function emptySheet(questions: readonly Question[]): Sheet {
  return questions.map(() => NOTHING);
}

export function changed(sheet: Sheet, at: number, change: Partial<Chosen>): Sheet {
  return sheet.map((one, index) => (index === at ? { ...one, ...change } : one));
}

export function picked(sheet: Sheet, at: number, question: Question, label: string): Sheet {
  const now = sheet[at] ?? NOTHING;
  if (!question.multiSelect) return changed(sheet, at, { labels: [label], useOther: false });
  const labels = now.labels.includes(label)
    ? now.labels.filter((one) => one !== label)
    : question.options
        .map((one) => one.label)
        .filter((one) => one === label || now.labels.includes(one));
  return changed(sheet, at, { labels });
}

/** Words of one's own count as soon as there are some; for one answer they replace what was ticked. */
export function written(sheet: Sheet, at: number, question: Question, other: string): Sheet {
  const useOther = other.trim() !== "";
  const only = useOther && !question.multiSelect ? { labels: [] } : {};
  return changed(sheet, at, { other, useOther, ...only });
}

export function answerOf(one: Chosen): string[] {
  const own = one.useOther && one.other.trim() !== "" ? [one.other.trim()] : [];
  return [...one.labels, ...own];
}

export function isWhole(sheet: Sheet): boolean {
  return sheet.every((one) => answerOf(one).length > 0);
}

export function answersOf(questions: readonly Question[], sheet: Sheet): Record<string, string[]> {
  return Object.fromEntries(
    questions.map((one, at) => [one.key || one.question, answerOf(sheet[at] ?? NOTHING)]),
  );
}

/** What was kept over a reload. */
export function sheetOf(value: unknown): Sheet | undefined {
  if (!Array.isArray(value)) return undefined;
  return listOf(value)
    .map(fieldsOf)
    .map((one) => ({
      labels: textsOf(one["labels"]),
      other: textOf(one["other"]),
      useOther: one["useOther"] === true,
    }));
}

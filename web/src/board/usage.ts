/** What was spent, as the gateway adds it up, and as a board says it. */
import { fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";

export interface Day {
  readonly day: string;
  readonly costUsd: number;
  readonly turns: number;
}

export interface Usage {
  readonly costUsd: number;
  readonly turns: number;
  readonly days: readonly Day[];
  readonly agents: readonly { readonly agent: string; readonly costUsd: number }[];
  /** False: there is more to read; the next question goes on with it. */
  readonly complete: boolean;
}

export function usageOf(raw: unknown): Usage {
  const value = fieldsOf(raw);
  const total = fieldsOf(value["total"]);
  return {
    costUsd: numberOf(total["cost_usd"]),
    turns: numberOf(total["turns"]),
    days: listOf(value["days"]).map((one) => ({
      day: textOf(fieldsOf(one)["day"]),
      costUsd: numberOf(fieldsOf(one)["cost_usd"]),
      turns: numberOf(fieldsOf(one)["turns"]),
    })),
    agents: listOf(value["agents"]).map((one) => ({
      agent: textOf(fieldsOf(one)["agent"]),
      costUsd: numberOf(fieldsOf(one)["cost_usd"]),
    })),
    complete: value["complete"] === true,
  };
}

/** The last days up to today, also those on which nothing was done; the newest last. */
export function lastDays(usage: Usage, todayMs: number, count: number): readonly Day[] {
  const known = new Map(usage.days.map((one) => [one.day, one]));
  return Array.from({ length: count }, (_, place) => {
    const date = new Date(todayMs);
    date.setHours(12, 0, 0, 0); // a day may have 23 or 25 hours, but it has a noon
    date.setDate(date.getDate() - (count - 1 - place));
    const day = nameOf(date);
    return known.get(day) ?? { day, costUsd: 0, turns: 0 };
  });
}

function nameOf(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

export function sum(days: readonly Day[]): number {
  return days.reduce((all, one) => all + one.costUsd, 0);
}

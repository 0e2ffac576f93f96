/** How full the context is, and what was spent: from gauges, views and the ends of turns. */
import type { Item } from "./items.ts";
import { fieldsOf, listOf, numberOf, textOf } from "./values.ts";

export interface Fill {
  readonly tokens: number;
  /** 0: the agent has not said how many fit. */
  readonly window: number;
}

export interface Category {
  readonly name: string;
  readonly tokens: number;
}

/** Above the first it is worth a word, above the second it is urgent. */
export const NEARLY = 0.8;
export const FULL = 0.95;

export function fillOf(gauges: Readonly<Record<string, unknown>>): Fill | undefined {
  const context = fieldsOf(gauges["context"]);
  if (typeof context["tokens"] !== "number") return undefined;
  return { tokens: context["tokens"], window: numberOf(context["window"]) };
}

export function shareOf(fill: Fill): number {
  return fill.window > 0 ? Math.min(1, fill.tokens / fill.window) : 0;
}

export function levelOf(share: number): "fine" | "nearly" | "full" {
  if (share >= FULL) return "full";
  return share >= NEARLY ? "nearly" : "fine";
}

/** What fills the context, as the agent reports it; what is free is not among it. */
export function categoriesOf(report: unknown): readonly Category[] {
  return listOf(fieldsOf(report)["categories"])
    .map((raw) => {
      const one = fieldsOf(raw);
      return { name: textOf(one["name"]), tokens: numberOf(one["tokens"]) };
    })
    .filter((one) => one.tokens > 0 && isTaken(one.name));
}

/** What is free, or kept free, fills nothing. */
export function isTaken(category: string): boolean {
  return !/^(?:free space|(?:auto)?compact buffer)/i.test(category);
}

/** The cost of the last turn that ended, of the items in their order. */
export function lastTurnCost(
  ids: readonly string[],
  get: (id: string) => Item | undefined,
): number {
  for (let at = ids.length - 1; at >= 0; at -= 1) {
    const item = get(ids[at] ?? "");
    if (item?.kind === "result") return item.costUsd;
  }
  return 0;
}

export interface ModelUse {
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly costUsd: number;
}

export function modelUseOf(value: unknown): readonly ModelUse[] {
  return Object.entries(fieldsOf(value)).map(([model, raw]) => {
    const one = fieldsOf(raw);
    return {
      model,
      input: numberOf(one["inputTokens"]),
      output: numberOf(one["outputTokens"]),
      cached: numberOf(one["cacheReadInputTokens"]) + numberOf(one["cacheCreationInputTokens"]),
      costUsd: numberOf(one["costUSD"]),
    };
  });
}

/** Models that an agent offers: which of them is in use, and what it can be told. */
import { fieldsOf, listOf, textOf, textsOf } from "../store/values.ts";

export interface Model {
  readonly value: string;
  /** What it is called once it is chosen: "default" is one that has a name. */
  readonly resolved: string;
  readonly name: string;
  readonly about: string;
  /** Levels of effort; undefined: the agent does not say it for each model. */
  readonly efforts: readonly string[] | undefined;
  readonly fast: boolean | undefined;
}

/** Reads the models as the gateway describes them, for every agent in the same way. */
export function modelsOf(value: unknown): readonly Model[] {
  return listOf(value)
    .map(fieldsOf)
    .map((model) => ({
      value: textOf(model["id"]),
      resolved: textOf(model["resolved"]),
      name: textOf(model["name"]) || textOf(model["id"]),
      about: textOf(model["about"]),
      efforts: Array.isArray(model["efforts"]) ? textsOf(model["efforts"]) : undefined,
      fast: typeof model["fast"] === "boolean" ? model["fast"] : undefined,
    }))
    .filter((model) => model.value !== "");
}

const DEFAULT = "default";

/**
 * The one that is used now. "default" stands for a model that may be on the list under its own name:
 * whoever chose that name wants to read it.
 */
export function modelInUse(models: readonly Model[], model: string): Model | undefined {
  const own = [
    ...models.filter((one) => one.value !== DEFAULT),
    ...models.filter((one) => one.value === DEFAULT),
  ];
  return (
    own.find((one) => one.value === model) ??
    own.find((one) => one.resolved !== "" && one.resolved === model) ??
    own.find((one) => one.resolved === "" && isShortFor(one.value, model))
  );
}

const PARTS = /^([^[]*)(\[.*\])?$/; // claude-opus-4-6[1m]

/** Whether "haiku" is claude-haiku-4-5, and "opus[1m]" claude-opus-4-6[1m]. */
function isShortFor(short: string, model: string): boolean {
  const [, name = "", kind = ""] = PARTS.exec(short) ?? [];
  const [, whole = "", wholeKind = ""] = PARTS.exec(model) ?? [];
  return name !== "" && kind === wholeKind && whole.split("-").includes(name);
}

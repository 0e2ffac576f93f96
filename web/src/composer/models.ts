/** Models that an agent offers: which of them is in use, and what it can be told. */
import { type Fields, fieldsOf, listOf, textOf, textsOf } from "../store/values.ts";

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

export function modelsOf(value: unknown): readonly Model[] {
  const all = listOf(value).map(fieldsOf);
  // an agent that says it at all says it only where it is so
  const saysEffort = all.some((one) => "supportsEffort" in one);
  const saysFast = all.some((one) => "supportsFastMode" in one);
  return all
    .map((one) => ({
      value: textOf(one["value"]),
      resolved: textOf(one["resolvedModel"]),
      name: textOf(one["displayName"]) || textOf(one["value"]),
      about: textOf(one["description"]),
      efforts: saysEffort ? effortsOf(one) : undefined,
      fast: saysFast ? one["supportsFastMode"] === true : undefined,
    }))
    .filter((one) => one.value !== "");
}

function effortsOf(one: Fields): readonly string[] | undefined {
  if (one["supportsEffort"] !== true) return [];
  const levels = textsOf(one["supportedEffortLevels"]);
  return levels.length > 0 ? levels : undefined;
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

/**
 * Names and descriptions of permission modes, as an agent publishes them. A mode without a name, or
 * one that the agent does not publish, is shown by its id.
 */
import { fieldsOf, listOf, textOf } from "./values.ts";

interface Mode {
  readonly name: string;
  readonly about: string;
}

/** The published modes of one agent, by their ids. */
export type Modes = ReadonlyMap<string, Mode>;

export const NO_MODES: Modes = new Map();

/** Reads `known_modes` of an agent; a gateway that sends none leaves it empty. */
export function modesOf(value: unknown): Modes {
  return new Map(
    listOf(value)
      .map(fieldsOf)
      .map((mode) => [
        textOf(mode["id"]),
        { name: textOf(mode["name"]), about: textOf(mode["description"]) },
      ]),
  );
}

export function modeName(modes: Modes, mode: string): string {
  return modes.get(mode)?.name || mode;
}

export function modeAbout(modes: Modes, mode: string): string {
  return modes.get(mode)?.about ?? "";
}

const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** From the least to the most. */
export function effortsInOrder(efforts: readonly string[]): readonly string[] {
  return efforts.toSorted((a, b) => EFFORTS.indexOf(a) - EFFORTS.indexOf(b));
}

/** What the gateway says of devices and slots. */
import { fieldsOf, listOf, numberOf, textOf, textsOf } from "../store/values.ts";

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly rights: readonly string[];
  readonly slots: readonly number[];
  readonly connected: number;
}

export interface Slot {
  readonly slot: number;
  readonly agent: string;
  readonly dir: string;
  readonly mode: string;
  readonly name: string;
  readonly session: string;
  readonly state: string;
  readonly autoEdit: boolean;
}

export interface Listed {
  /** Where devices come in; "": nowhere. */
  readonly listening: string;
  readonly devices: readonly Device[];
  readonly waiting: readonly { readonly address: string; readonly sinceMs: number }[];
  readonly slots: readonly Slot[];
}

export function devicesOf(value: unknown): Listed {
  const told = fieldsOf(value);
  return {
    listening: textOf(told["listening"]),
    devices: listOf(told["devices"])
      .map(fieldsOf)
      .map((one) => ({
        id: textOf(one["id"]),
        name: textOf(one["name"]),
        address: textOf(one["address"]),
        rights: textsOf(one["rights"]),
        slots: listOf(one["slots"]).map(numberOf),
        connected: numberOf(one["connected"]),
      })),
    waiting: listOf(told["waiting"])
      .map(fieldsOf)
      .map((one) => ({ address: textOf(one["address"]), sinceMs: numberOf(one["since_ms"]) })),
    slots: listOf(told["slots"])
      .map(fieldsOf)
      .map((one) => ({
        slot: numberOf(one["slot"]),
        agent: textOf(one["agent"]),
        dir: textOf(one["dir"]),
        mode: textOf(one["mode"]),
        name: textOf(one["name"]),
        session: textOf(one["session"]),
        state: textOf(one["state"]),
        autoEdit: one["auto_edit"] === true,
      })),
  };
}

/** What a device may be allowed, and what that means. */
export const RIGHTS: readonly (readonly [string, string])[] = [
  ["view", "see its slots"],
  ["input", "send prompts"],
  ["interrupt", "interrupt"],
  ["approve", "allow and deny"],
  ["spawn", "start agents"],
  ["auto_edit", "let edits pass without asking"],
];

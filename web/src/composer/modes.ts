/** Permission modes as people read them: one name each, wherever they are chosen. */

interface Mode {
  readonly mode: string;
  readonly name: string;
  readonly about: string;
}

/** From the most careful to the one that asks nobody. */
const MODES: readonly Mode[] = [
  { mode: "default", name: "Ask first", about: "It asks before it changes anything" },
  { mode: "manual", name: "Manual", about: "It asks for everything" },
  { mode: "plan", name: "Plan only", about: "It looks around and plans, and changes nothing" },
  { mode: "acceptEdits", name: "Accept edits", about: "It edits files, and asks for the rest" },
  { mode: "auto", name: "Auto", about: "A second model decides what must be asked" },
  { mode: "dontAsk", name: "Never ask, deny", about: "What no rule allows is denied" },
  { mode: "delegate", name: "Delegate", about: "It only hands out work to others" },
  { mode: "bypassPermissions", name: "Allow everything", about: "It never asks anybody" },
];

export function modeName(mode: string): string {
  return MODES.find((one) => one.mode === mode)?.name ?? mode;
}

export function modeAbout(mode: string): string {
  return MODES.find((one) => one.mode === mode)?.about ?? "";
}

/** In the same order everywhere; those that nobody here knows stand last. */
export function modesInOrder(modes: readonly string[]): readonly string[] {
  const place = (mode: string): number => {
    const at = MODES.findIndex((one) => one.mode === mode);
    return at < 0 ? MODES.length : at;
  };
  return modes.toSorted((a, b) => place(a) - place(b));
}

const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** From the least to the most. */
export function effortsInOrder(efforts: readonly string[]): readonly string[] {
  return efforts.toSorted((a, b) => EFFORTS.indexOf(a) - EFFORTS.indexOf(b));
}

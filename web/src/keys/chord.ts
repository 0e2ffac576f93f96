/**
 * Keys as people write them: "Mod+K", "Alt+ArrowUp", "?". Mod is Command on a Mac and Control elsewhere.
 *
 * A letter with Alt is told by its place on the keyboard: on a Mac Alt makes another character of it.
 */
export interface Pressed {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const ALONE = new Set(["Control", "Meta", "Alt", "Shift", "AltGraph", "CapsLock", "Dead"]);

/** What was pressed, in the same words; "" while only Shift and the like are down. */
export function chordOf(event: Pressed, mac: boolean): string {
  if (ALONE.has(event.key)) return "";
  const mod = mac ? event.metaKey : event.ctrlKey;
  const other = mac ? event.ctrlKey : event.metaKey;
  const key = keyOf(event);
  // a sign such as "?" needs Shift on some keyboards and not on others
  const shift = event.shiftKey && (key.length > 1 || /[A-Z0-9]/.test(key));
  return [
    mod ? "Mod" : "",
    other ? (mac ? "Ctrl" : "Meta") : "",
    event.altKey ? "Alt" : "",
    shift ? "Shift" : "",
    key,
  ]
    .filter((one) => one !== "")
    .join("+");
}

function keyOf(event: Pressed): string {
  const letter = /^(?:Key|Digit)([A-Z0-9])$/.exec(event.code)?.[1];
  if (event.altKey && letter !== undefined) return letter;
  if (event.key === " ") return "Space";
  return event.key.length === 1 ? event.key.toUpperCase() : event.key;
}

/** As it is printed on this keyboard. */
export function spoken(chord: string, mac: boolean): string {
  const names: Readonly<Record<string, string>> = {
    Mod: mac ? "⌘" : "Ctrl",
    Alt: mac ? "⌥" : "Alt",
    Shift: mac ? "⇧" : "Shift",
    Escape: "Esc",
    ArrowUp: "↑",
    ArrowDown: "↓",
  };
  // "+" itself can be a key
  const parts = chord.endsWith("++") ? [...chord.slice(0, -2).split("+"), "+"] : chord.split("+");
  return parts.map((one) => names[one] ?? one).join(mac ? "" : "+");
}

/** What a person has chosen for this browser. */
import { Emitter, type Schedule } from "./emitter.ts";
import type { Shelf } from "./outbox.ts";
import { fieldsOf, textOf } from "./values.ts";

export interface Settings {
  readonly theme: "system" | "dark" | "light";
  readonly contrast: "normal" | "more";
  readonly density: "normal" | "compact";
  /** Where a new answer starts: its end stays in sight, or its beginning does. */
  readonly follow: "bottom" | "top";
  readonly sound: boolean;
  readonly notifications: boolean;
  /** How differences are shown. */
  readonly diff: "unified" | "split";
  /** Show thoughts as they come. */
  readonly thinking: boolean;
  readonly inspector: boolean;
  /** Action → keys, where they are not the usual ones. */
  readonly keys: Readonly<Record<string, string>>;
}

export const USUAL: Settings = {
  theme: "system",
  contrast: "normal",
  density: "normal",
  follow: "bottom",
  sound: false,
  notifications: false,
  diff: "unified",
  thinking: true,
  inspector: true,
  keys: {},
};

const KEY = "flybridge.settings";

export class SettingsStore {
  readonly emitter: Emitter;
  now: Settings;

  constructor(
    private readonly shelf: Shelf,
    schedule?: Schedule,
  ) {
    this.emitter = new Emitter(schedule);
    this.now = read(shelf.getItem(KEY));
  }

  set(change: Partial<Settings>): void {
    this.now = { ...this.now, ...change };
    this.emitter.touch("settings");
    this.emitter.flush(); // a switch shows at once that it was pressed
    try {
      this.shelf.setItem(KEY, JSON.stringify(this.now));
    } catch {
      // the browser keeps nothing for us: it holds as long as the page
    }
  }
}

/** Whatever was kept and makes no sense is as usual. */
export function read(text: string | null): Settings {
  let kept: Record<string, unknown> = {};
  try {
    kept = fieldsOf(JSON.parse(text ?? "{}"));
  } catch {
    return USUAL;
  }
  const oneOf = <T extends string>(name: keyof Settings, all: readonly T[], usual: T): T =>
    all.find((one) => one === kept[name]) ?? usual;
  const flag = (name: keyof Settings, usual: boolean): boolean =>
    typeof kept[name] === "boolean" ? (kept[name] as boolean) : usual;
  const keys = Object.entries(fieldsOf(kept["keys"])).map(([id, value]) => [id, textOf(value)]);
  return {
    theme: oneOf("theme", ["system", "dark", "light"], USUAL.theme),
    contrast: oneOf("contrast", ["normal", "more"], USUAL.contrast),
    density: oneOf("density", ["normal", "compact"], USUAL.density),
    follow: oneOf("follow", ["bottom", "top"], USUAL.follow),
    diff: oneOf("diff", ["unified", "split"], USUAL.diff),
    sound: flag("sound", USUAL.sound),
    notifications: flag("notifications", USUAL.notifications),
    thinking: flag("thinking", USUAL.thinking),
    inspector: flag("inspector", USUAL.inspector),
    keys: Object.fromEntries(keys.filter(([, value]) => value !== "")) as Record<string, string>,
  };
}

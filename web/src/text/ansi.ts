/** What a command printed, as spans with classes. */

import Anser from "anser";
import { visible } from "./control.ts";
import { onScreen } from "./terminal.ts";

export interface AnsiSpan {
  readonly text: string;
  /** Names of `ansi.css`, "" for plain text. */
  readonly className: string;
  /** A colour that has no name, for the custom properties of `ansi.css`. */
  readonly fg: string;
  readonly bg: string;
}

/** After so many changes of colour the rest is plain. */
const MOST_SPANS = 5000;
const STEPS = [0, 95, 135, 175, 215, 255];
// oxlint-disable-next-line no-control-regex
const SILENT = /[\u0000\u0007\u000e\u000f]/g;
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-?]*m/g;

/** Takes the output of a terminal apart. Nothing of it can act on the page. */
export function ansi(text: string): readonly AnsiSpan[] {
  const shown = onScreen(text).replace(SILENT, "");
  if (!shown.includes("\u001b")) return shown === "" ? [] : [plain(shown)];
  const [coloured, rest] = atMost(shown);
  const spans = Anser.ansiToJson(coloured, { use_classes: true, remove_empty: true }).map(toSpan);
  return rest === "" ? spans : [...spans, plain(rest.replace(COLOURS, ""))];
}

/** The words alone, for copying. */
export function withoutAnsi(text: string): string {
  return visible(onScreen(text).replace(SILENT, "").replace(COLOURS, ""));
}

function atMost(text: string): readonly [string, string] {
  let count = 0;
  for (const { index } of text.matchAll(COLOURS)) {
    count += 1;
    if (count > MOST_SPANS) return [text.slice(0, index), text.slice(index)];
  }
  return [text, ""];
}

function plain(text: string): AnsiSpan {
  return { text: visible(text), className: "", fg: "", bg: "" };
}

function toSpan(entry: Anser.AnserJsonEntry): AnsiSpan {
  const fg = unnamed(entry.fg, entry.fg_truecolor);
  const bg = unnamed(entry.bg, entry.bg_truecolor);
  const names = [
    colourClass("ansi-fg", entry.fg, fg),
    colourClass("ansi-bg", entry.bg, bg),
    ...entry.decorations
      .filter((one) => one !== "hidden" && one !== "blink")
      .map((one) => `ansi-${one}`),
  ];
  const className = names.filter((one) => one !== "").join(" ");
  return { text: visible(entry.content), className, fg, bg };
}

/** `ansi-red` is a name of ours already, once it says what it colours. */
function colourClass(what: string, name: string | null, colour: string): string {
  if (!name) return "";
  return colour === "" ? name.replace(/^ansi/, what) : what;
}

function unnamed(name: string | null, truecolour: string | null): string {
  if (name === "ansi-truecolor") return `rgb(${truecolour ?? "0, 0, 0"})`;
  const place = /^ansi-palette-(\d+)$/.exec(name ?? "");
  return place === null ? "" : paletteColour(Number(place[1]));
}

/** The colours 16 to 255 of the usual palette: a cube of six steps, then greys. */
function paletteColour(place: number): string {
  if (place >= 232) {
    const grey = 8 + (place - 232) * 10;
    return `rgb(${grey}, ${grey}, ${grey})`;
  }
  const at = place - 16;
  const step = (size: number): number => STEPS[Math.floor(at / size) % 6] ?? 0;
  return `rgb(${step(36)}, ${step(6)}, ${step(1)})`;
}

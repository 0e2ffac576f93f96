/**
 * Where words for everybody stand: in front of whatever is open. A modal dialog makes all that is
 * outside of it dead to the hand, to the keyboard and to screen readers, so one element goes along
 * from dialog to dialog. It is moved and never made anew: what stands in it keeps its time.
 */
import style from "./topmost.module.css";

const dialogs: HTMLElement[] = [];
let place: HTMLElement | undefined;

export function topmost(): HTMLElement {
  place ??= made();
  if (!place.isConnected) raise(place);
  return place;
}

/** An open dialog is in front of everything from now on. */
export function cover(dialog: HTMLElement): void {
  dialogs.push(dialog);
  raise(topmost());
}

/** It goes: before it is taken from the page, or what stands in it would go with it. */
export function uncover(dialog: HTMLElement): void {
  const at = dialogs.lastIndexOf(dialog);
  if (at < 0) return;
  dialogs.splice(at, 1);
  raise(topmost());
}

function made(): HTMLElement {
  const one = document.createElement("div");
  one.popover = "manual"; // in front of the dialog it stands in, and where the window says
  one.className = style["place"] ?? "";
  return one;
}

function raise(one: HTMLElement): void {
  const into = dialogs.at(-1) ?? document.body;
  if (one.parentElement !== into) into.append(one);
  if ("showPopover" in one && !one.matches(":popover-open")) one.showPopover();
}

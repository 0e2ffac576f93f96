/** Characters that act instead of being seen. What an agent writes must not use them unseen. */

// Everything below a space but tab and line feed, delete, and the second set of controls.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// Marks that turn the reading direction, and letters of no width that hide in a word.
const DIRECTION = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Control characters become pictures of themselves; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROL, picture);
}

/** Like `printable`, and marks of direction are spelled out: for commands, paths and code. */
export function visible(text: string): string {
  return printable(text).replace(DIRECTION, spelled);
}

function picture(one: string): string {
  const code = one.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function spelled(one: string): string {
  return `\u27e8U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

/** Characters that act instead of being seen. What an agent writes must not use them unseen. */

// Everything below a space but tab and line feed, delete, and the second set of controls.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// Marks that turn the reading direction, letters that no font draws, tags and rare selectors.
const HIDDEN =
  /(?!\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|[\u2028\u2029\ufff9-\ufffb]/gu;
// A joiner belongs between two parts of one picture, and nowhere else in what is shown here.
const JOINER =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
// Whatever else a font draws nothing for, and spaces that are no space to a shell or a compiler.
const UNSEEN =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800\u{16fe4}\u{1d159}]|(?! )\p{Zs}/gu;

/** Control characters become pictures of themselves; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROL, picture);
}

/** Like `printable`, and what cannot be seen is spelled out: for commands, paths and code. */
export function visible(text: string): string {
  return printable(text).replace(HIDDEN, spelled).replace(JOINER, spelled);
}

/**
 * Like `visible`, without an exception: every character is there, and those that cannot be seen
 * are spelled out, joined pictures and unusual spaces included. For what somebody decides about.
 */
export function exact(text: string): string {
  return printable(text).replace(UNSEEN, spelled);
}

function picture(one: string): string {
  const code = one.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function spelled(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `\u27e8U+${code}\u27e9`;
}

/**
 * What somebody decides about, letter by letter: nothing in it is unseen, and nothing that looks
 * like another letter passes for it.
 */
import { visible } from "../text/control.ts";

// What a font draws nothing for, and spaces that are no space to a shell.
const UNSEEN =
  /\p{Default_Ignorable_Code_Point}|[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu;

/** Every character is there, and those that cannot be seen are spelled out. */
export function exact(text: string): string {
  return visible(text).replace(UNSEEN, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `\u27e8U+${code}\u27e9`;
  });
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LATIN = /\p{Script=Latin}/u;
const ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const WIDE = /[\uff01-\uff5e]/; // letters of double width, which are not the plain ones
const MOST = 5;

/** Words that mix letters of several scripts, as somebody would who wants to be misread. */
export function mixed(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    if ((LATIN.test(word) && ALIKE.test(word)) || WIDE.test(word)) found.add(word);
    if (found.size >= MOST) break;
  }
  return [...found];
}

/** All texts in a value, for such a look at it. */
export function textsIn(value: unknown, most = 200): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value)
    .slice(0, most)
    .flatMap((one) => textsIn(one, most));
}

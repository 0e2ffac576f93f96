/**
 * What somebody decides about, letter by letter: nothing in it is unseen, and nothing that looks
 * like another letter passes for it.
 */
export { exact } from "../text/control.ts";

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

/**
 * Which of a few names somebody means by some letters: they must come in their order; whole runs,
 * and letters that begin a word, count more than scattered ones. Higher is better, 0: not meant.
 */
export function score(name: string, letters: string): number {
  const where = name.toLowerCase();
  const wanted = letters.toLowerCase();
  if (wanted === "") return 1;
  if (where === wanted) return 1000;
  if (where.startsWith(wanted)) return 800 - Math.min(where.length, 200);
  const at = where.indexOf(wanted);
  if (at >= 0) return 600 + (startsWord(where, at) ? 100 : 0) - Math.min(where.length, 200);
  return scattered(where, wanted);
}

function scattered(where: string, wanted: string): number {
  let points = 100;
  let last = -1;
  for (const letter of wanted) {
    const at = where.indexOf(letter, last + 1);
    if (at < 0) return 0;
    if (at === last + 1) points += 8;
    else points += startsWord(where, at) ? 6 : 1;
    last = at;
  }
  return Math.max(1, points - Math.min(where.length, 200) / 4);
}

function startsWord(text: string, at: number): boolean {
  return at === 0 || !/[a-z0-9]/.test(text[at - 1] ?? "");
}

/** The ones that are meant, the best first; those that are equally good stay in their order. */
export function ranked<T>(all: readonly T[], letters: string, name: (one: T) => string): T[] {
  return all
    .map((one) => ({ one, points: score(name(one), letters) }))
    .filter(({ points }) => points > 0)
    .toSorted((a, b) => b.points - a.points)
    .map(({ one }) => one);
}

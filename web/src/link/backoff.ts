/** How long to wait before the next try: longer each time, never the same for everybody. */
export const FIRST_MS = 250;
export const MOST_MS = 8000;

export function backoff(tries: number, chance: number = Math.random()): number {
  const ceiling = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(tries, 10));
  return Math.round(ceiling * (0.5 + chance / 2));
}

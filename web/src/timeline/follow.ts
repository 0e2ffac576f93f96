/**
 * Whether the newest line stays in sight.
 *
 * It does only while the reader is at the end. Scrolling up stops it at once; only the reader, or the
 * pill that counts what has come since, starts it again.
 */
export interface Place {
  readonly top: number;
  readonly height: number;
  readonly view: number;
}

export const NEAR = 24;

export function fromEnd(place: Place): number {
  return Math.max(0, place.height - place.view - place.top);
}

/** Somebody scrolled up: nothing that grew does that, and what shrank took its height along. */
export function movedUp(last: Place, now: Place): boolean {
  return now.top < last.top - 1 && now.height >= last.height;
}

/** After a scroll of the reader's or of ours. */
export function follows(before: boolean, last: Place, now: Place): boolean {
  if (fromEnd(now) <= NEAR) return true;
  // content that grew below leaves `top` as it was: that is nobody's wish to stop
  return before && now.top >= last.top;
}

/**
 * The focus of a row that goes to another group, or is put away: a session that begins to work while
 * somebody is at its row must not throw them out of the list.
 */
import { type RefObject, useLayoutEffect } from "react";

/** The session whose row went with the focus in it, and the row that was beside it. */
let lost: { readonly session: string; readonly beside: string } | undefined;

function linkOf(list: ParentNode | null, session: string): HTMLElement | undefined {
  const rows = [...(list?.querySelectorAll<HTMLElement>("[data-session]") ?? [])];
  return rows.find((one) => one.dataset["session"] === session)?.querySelector("a") ?? undefined;
}

/** In a row: it says so when it goes with the focus. */
export function useLeavesFocus(row: RefObject<HTMLElement | null>, session: string): void {
  useLayoutEffect(() => {
    const one = row.current;
    return () => {
      if (one?.contains(document.activeElement) !== true) return;
      const beside = one.nextElementSibling ?? one.previousElementSibling;
      lost = { session, beside: (beside as HTMLElement | null)?.dataset["session"] ?? "" };
    };
  }, [row, session]);
}

/** In the list: the same row has the focus again, or else the one beside it, or the first. */
export function useKeepsFocus(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    if (lost === undefined) return;
    const { session, beside } = lost;
    lost = undefined;
    const { current } = list;
    const to = linkOf(current, session) ?? linkOf(current, beside) ?? current?.querySelector("a");
    to?.focus({ preventScroll: true });
  });
}

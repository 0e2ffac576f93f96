import { useEffect, useMemo, useState } from "react";
import { blobHead, blobHeadHere, blobText, blobTextHere } from "../link/blobs.ts";
import type { ToolItem } from "../store/items.ts";
import { leading, parsed } from "../store/values.ts";

/**
 * A call whose input may be too long for the log: its first fields, such as the name of a file, are
 * fetched when it is drawn; all of it once it is open. What cannot be fetched stays unknown.
 */
export function useInput(item: ToolItem, open: boolean): ToolItem {
  const blob = item.input === null || item.input === undefined ? item.inputBlob : "";
  const [, setCame] = useState(0);
  const whole = blob === "" ? undefined : blobTextHere(blob);
  const head = blob === "" ? undefined : blobHeadHere(blob);
  const missing = blob !== "" && whole === undefined && (open || head === undefined);
  useEffect(() => {
    if (!missing) return undefined;
    let over = false;
    const came = (): void => {
      if (!over) setCame((n) => n + 1);
    };
    (open ? blobText(blob) : blobHead(blob)).then(came, () => undefined);
    return () => {
      over = true;
    };
  }, [missing, open, blob]);
  return useMemo(() => {
    if (whole !== undefined) return { ...item, input: parsed(whole) ?? null };
    return head === undefined ? item : { ...item, input: leading(head) };
  }, [item, whole, head]);
}

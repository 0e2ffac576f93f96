/** Somebody is back, or the network is: nobody should wait for the next try. */
import type { Link } from "./link.ts";

const BACK = ["online", "pageshow", "focus"] as const;

export function mindReturning(
  link: Pick<Link, "hurry" | "resync">,
  window: EventTarget,
  document: EventTarget & Pick<Document, "visibilityState">,
): void {
  const back = (): void => {
    if (document.visibilityState === "visible") link.hurry();
  };
  for (const name of BACK) window.addEventListener(name, back);
  document.addEventListener("visibilitychange", back);
  // what was open may never say that it is dead; on this machine a new one is there at once
  window.addEventListener("offline", () => link.resync());
}

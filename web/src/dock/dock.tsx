import type { ReactNode } from "react";
import { usePrompts } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";

export function Dock({ store }: { readonly store: SessionStore }): ReactNode {
  const prompts = usePrompts(store);
  return prompts.length > 0 ? (
    <section aria-label="Waiting for you">{prompts[0]?.tool}</section>
  ) : null;
}

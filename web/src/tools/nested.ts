import { type ReactNode, createContext } from "react";
import type { SessionStore } from "../store/session.ts";

/** Draws what belongs to a call. The transcript gives it, so that tools need not know the transcript. */
export const NestedContext = createContext<(store: SessionStore, parent: string) => ReactNode>(
  () => null,
);

import { useCallback, useEffect, useState } from "react";
import { Drafts } from "./drafts.ts";

const words = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The text that is being written in a session: it is there again after a reload. */
export function useDraft(session: string): [string, (text: string) => void] {
  const [drafts] = useState(() => new Drafts(sessionStorage, "draft", words));
  const [text, setText] = useState(() => drafts.get(session) ?? "");
  useEffect(() => drafts.set(session, text === "" ? undefined : text), [drafts, session, text]);
  return [text, useCallback((next: string) => setText(next), [])];
}

import { useCallback, useEffect, useState } from "react";
import { Drafts } from "./drafts.ts";

const words = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** A text that is being written, such as the one in a session: it is there again after a reload. */
export function useDraft(name: string): [string, (text: string) => void] {
  const [drafts] = useState(() => new Drafts(sessionStorage, "draft", words));
  const [text, setText] = useState(() => drafts.get(name) ?? "");
  useEffect(() => drafts.set(name, text === "" ? undefined : text), [drafts, name, text]);
  return [text, useCallback((next: string) => setText(next), [])];
}

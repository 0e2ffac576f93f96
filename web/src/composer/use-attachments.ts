import { useCallback, useEffect, useState } from "react";
import { useApp } from "../parts/use-store.ts";
import { wordsOf } from "../link/errors.ts";
import { type Attached, MOST_ATTACHED, attachedOf, prepared } from "./attach.ts";
import { Drafts } from "./drafts.ts";
import { workshop } from "./pictures.ts";

export interface Attachments {
  readonly all: readonly Attached[];
  /** Something is still being read or uploaded. */
  readonly busy: boolean;
  add(files: Iterable<File>): void;
  remove(id: string): void;
  clear(): void;
  restore(all: readonly Attached[]): void;
}

let ids = 0;

/** What lies beside the draft of a session; what is ready stays there over a reload. */
export function useAttachments(session: string): Attachments {
  const app = useApp();
  const [drafts] = useState(() => new Drafts(sessionStorage, "attached", attachedOf));
  const [all, setAll] = useState<readonly Attached[]>(() => drafts.get(session) ?? []);

  useEffect(() => {
    const ready = all.filter((one) => one.content !== undefined);
    drafts.set(session, ready.length > 0 ? ready : undefined);
  }, [drafts, session, all]);

  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of [...files].slice(0, MOST_ATTACHED)) {
        ids += 1;
        const id = `${Date.now()}-${ids}`;
        const one: Attached = {
          id,
          name: file.name,
          size: file.size,
          content: undefined,
          note: "",
        };
        setAll((before) => [...before, one].slice(0, MOST_ATTACHED));
        prepared(file, workshop).then(
          (made) => setAll((now) => now.map((had) => (had.id === id ? { ...had, ...made } : had))),
          (error: unknown) => {
            setAll((now) => now.filter((had) => had.id !== id));
            app.ui.toast(wordsOf(error), "error");
          },
        );
      }
    },
    [app],
  );
  const remove = useCallback((id: string) => {
    setAll((now) => now.filter((one) => one.id !== id));
  }, []);
  const clear = useCallback(() => setAll([]), []);
  const busy = all.some((one) => one.content === undefined);
  return { all, busy, add, remove, clear, restore: setAll };
}

import { useEffect, useState } from "react";
import { Drafts } from "../composer/drafts.ts";
import { talkOf } from "../composer/talk.ts";
import { useApp } from "../parts/use-store.ts";
import type { Prompt } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { openPrompts } from "./open-prompts.ts";
import { endingOf, endingWords } from "./outcome.ts";
import { titleOf, toolName } from "./titles.ts";

const STAYS_MS = 6000;

/** Words about a prompt that was here and was not answered here; "": there is none. */
export function useEndings(store: SessionStore): string {
  const app = useApp();
  const [words, setWords] = useState("");
  useEffect(() => {
    const now = (): readonly Prompt[] =>
      openPrompts(store.transcript.prompts, store.earlier, store.view);
    let before: readonly Prompt[] = store.synced ? now() : [];
    const drafts = new Drafts(sessionStorage, "answers", () => undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      if (!store.synced) return; // what is replayed was over before anybody looked
      const open = now();
      const ids = new Set(open.map((one) => one.id));
      const gone = before.filter((one) => !ids.has(one.id));
      before = open;
      const { answered } = talkOf(store);
      let elsewhere: Prompt | undefined;
      for (const one of gone) {
        drafts.set(one.id, undefined); // nobody needs what was chosen so far
        if (!answered.delete(one.id)) elsewhere = one;
      }
      if (elsewhere === undefined) return;
      const ending = endingWords(endingOf(store, elsewhere), app.welcome?.principal ?? "");
      const what = toolName(elsewhere.tool) || titleOf(elsewhere);
      setWords(`${ending}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`);
      clearTimeout(timer);
      timer = setTimeout(() => setWords(""), STAYS_MS);
    };
    const ends = ["prompts", "view", "synced"].map((key) => store.emitter.subscribe(key, look));
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [app, store]);
  return words;
}

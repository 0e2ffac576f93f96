import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { talkOf } from "../composer/talk.ts";
import { Mark } from "../parts/mark.tsx";
import { nobodyHasFocus } from "../parts/nobody.ts";
import { useApp, useKey } from "../parts/use-store.ts";
import type { Prompt } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import style from "./dock.module.css";
import { useGuard } from "./guard.ts";
import { useEarlierPrompts, useOpenPrompts } from "./open-prompts.ts";
import type { Form } from "./permission.tsx";
import { isPlan, titleOf, toolName } from "./titles.ts";
import { type Answer, useAnswer } from "./use-answer.ts";
import { useEndings } from "./use-endings.ts";
import { Ways } from "./ways.tsx";

/** Keys that are still warm mean that somebody writes: the focus stays where it is. */
const QUIET_MS = 1000;

/** What the agent asks, above the composer: one at a time, the oldest first. */
export function Dock({ store }: { readonly store: SessionStore }): ReactNode {
  useEarlierPrompts(store);
  const prompts = useOpenPrompts(store);
  const ended = useEndings(store);
  const [shown] = prompts;
  return (
    <>
      <div role="status" className={style.ended}>
        {ended}
      </div>
      {shown !== undefined && (
        <Asked
          // another prompt, or another input of it: everything begins anew
          key={`${shown.id} ${shown.digest}`}
          store={store}
          prompt={shown}
          count={prompts.length}
        />
      )}
    </>
  );
}

interface Props {
  readonly store: SessionStore;
  readonly prompt: Prompt;
  readonly count: number;
}

function Asked({ store, prompt, count }: Props): ReactNode {
  const app = useApp();
  const dock = useRef<HTMLElement>(null);
  const guard = useGuard();
  const answer = useAnswer(store, prompt);
  const [form, setForm] = useState<Form>("");
  useKey(app.emitter, "welcome", () => app.welcome); // it says what we may
  const may = app.may("approve");
  const deny = (): void => {
    if (!may || !guard.counts() || answer.sending) return;
    if (prompt.kind === "question") answer.reply({ declined: true });
    else answer.decide({ decision: "deny" });
  };
  useHandle(store, dock, { form, setForm, deny });
  useFocus(store, dock);
  return (
    <section
      ref={dock}
      className={style.dock}
      aria-label="Waiting for you"
      data-prompt={prompt.id}
      tabIndex={-1}
    >
      <header className={style.head}>
        <Mark state="waiting" silent />
        <h2>{titleOf(prompt)}</h2>
        {prompt.kind === "permission" && !isPlan(prompt) && (
          <span className={style.tool}>{toolName(prompt.tool, prompt.toolKind)}</span>
        )}
        {prompt.agent !== "" && <span className={style.by}>Subagent {prompt.agent}</span>}
        {count > 1 && <span className={style.count}>1 of {count}</span>}
      </header>
      <Ways {...{ prompt, answer, guard, may, form, setForm }} around={dock} />
      <Told may={may} answer={answer} />
    </section>
  );
}

/** Why nothing can be done here, or what became of it. */
function Told({ may, answer }: { readonly may: boolean; readonly answer: Answer }): ReactNode {
  const app = useApp();
  if (!may) {
    return <p className={style.told}>{app.whyNot()}</p>;
  }
  if (answer.problem === "") return null;
  return (
    <p className={style.problem} role="alert">
      {answer.problem}
    </p>
  );
}

interface Handled {
  readonly form: Form;
  readonly setForm: (form: Form) => void;
  readonly deny: () => void;
}

/** Escape reaches the dock by `talkOf(store).dock`. */
function useHandle(
  store: SessionStore,
  dock: { readonly current: HTMLElement | null },
  now: Handled,
): void {
  const last = useRef(now);
  useEffect(() => {
    last.current = now;
  });
  useEffect(() => {
    const talk = talkOf(store);
    const handle = {
      promptOpen: () => true,
      hasFocus: () => dock.current?.contains(document.activeElement) === true,
      formOpen: () => last.current.form !== "",
      closeForm: () => {
        last.current.setForm("");
        dock.current?.focus();
      },
      focus: () => dock.current?.focus(),
      deny: () => last.current.deny(),
    };
    talk.dock = handle;
    return () => {
      if (talk.dock === handle) talk.dock = undefined;
    };
  }, [store, dock]);
}

/**
 * A prompt takes the focus only from nobody: not from a draft, not from somebody who types, and not
 * from anything else that is in use. When it is gone, the composer has the focus again.
 */
function useFocus(store: SessionStore, dock: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const { composer, typedMs } = talkOf(store);
    const element = dock.current;
    const idle =
      composer?.hasFocus() === true &&
      !composer.hasText() &&
      performance.now() - typedMs > QUIET_MS;
    if (nobodyHasFocus() || idle) element?.focus({ preventScroll: true });
  }, [store, dock]);
  useLayoutEffect(() => {
    const element = dock.current;
    return () => {
      // it is taken off the page with the focus in it: give that to somebody
      const had = element?.contains(document.activeElement) === true;
      if (had) talkOf(store).composer?.focus();
    };
  }, [store, dock]);
}

import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ArrowUp, Paperclip } from "lucide-react";
import { useOpenPrompts } from "../dock/open-prompts.ts";
import { Button } from "../parts/button.tsx";
import { useApp, useConnection, useKey, useView } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { AttachmentRow } from "./attachments.tsx";
import { Choice } from "./choice.tsx";
import style from "./composer.module.css";
import { Controls } from "./controls.tsx";
import { Field, type Menu } from "./field.tsx";
import { Stop } from "./stop.tsx";
import { talkOf } from "./talk.ts";
import { useAgent } from "./use-agent.ts";
import { type Attachments, useAttachments } from "./use-attachments.ts";
import { useDraft } from "./use-draft.ts";
import { useDrop } from "./use-drop.ts";
import { type SendMode, useSend } from "./use-send.ts";
import { Waiting } from "./waiting.tsx";

/** Where a person speaks: what is written, what goes with it, and how the agent is set. */
export function Composer({ store }: { readonly store: SessionStore }): ReactNode {
  const view = useView(store);
  const agent = useAgent(store);
  const [text, setText] = useDraft(store.session);
  const attachments = useAttachments(store.session);
  const [mode, setMode] = useState<SendMode>("auto");
  const send = useSend(store, agent, attachments, mode);
  const field = useRef<HTMLTextAreaElement>(null);
  const menu = useRef<Menu>(null);
  const why = useSilence(store);
  const folded = useOpenPrompts(store).length > 0;
  const over = useDrop(attachments.add, why !== "");
  const { clear, undo } = useClearing(store, text, setText, attachments);
  const running = view?.status === "running";

  const say = (words: string): void => {
    if (!send(words)) return;
    setText("");
    attachments.clear();
  };
  useHandle(store, { field, menu, text, setText, clear });
  return (
    <form
      className={style.composer}
      aria-label="Message to the agent"
      data-folded={folded || undefined}
      data-running={running || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        say(text);
        field.current?.focus();
      }}
    >
      <Waiting store={store} agent={agent} />
      <AttachmentRow all={attachments.all} remove={attachments.remove} />
      <Field
        store={store}
        agent={agent}
        text={text}
        setText={setText}
        placeholder={why || (running ? "Add to what it does" : "Say what to do")}
        disabled={why !== ""}
        field={field}
        menu={menu}
        onSend={say}
        onUndo={undo}
        onFiles={attachments.add}
        onKey={() => {
          talkOf(store).typedMs = performance.now();
        }}
      />
      <div className={style.bar}>
        <FilePicker add={attachments.add} off={why !== ""} />
        <Controls store={store} agent={agent} />
        {running && why === "" && (
          <Choice
            label="When to send"
            value={mode}
            shown={SHOWN[mode]}
            options={[
              { value: "auto", label: "As soon as it can" },
              { value: "steer", label: "Into this turn", disabled: !agent.steers },
              { value: "queue", label: "After this turn" },
            ]}
            onChange={(next) => setMode(next as SendMode)}
          />
        )}
        <Stop store={store} />
        <Button
          type="submit"
          look="main"
          className={style.send}
          aria-label={running && mode === "queue" ? "Queue" : "Send"}
          title="Send (Enter)"
          icon={<ArrowUp aria-hidden="true" />}
          disabled={why !== "" || (text.trim() === "" && attachments.all.length === 0)}
        />
      </div>
      {over && <div className={style.over}>Drop to attach</div>}
    </form>
  );
}

const SHOWN: Readonly<Record<SendMode, string>> = {
  auto: "Right away",
  steer: "Into this turn",
  queue: "After this turn",
};

function FilePicker({
  add,
  off,
}: {
  readonly add: Attachments["add"];
  readonly off: boolean;
}): ReactNode {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        look="quiet"
        className={style.icon}
        aria-label="Attach files"
        title="Attach files"
        icon={<Paperclip aria-hidden="true" />}
        disabled={off}
        onClick={() => input.current?.click()}
      />
      <input
        ref={input}
        id={id}
        type="file"
        hidden
        multiple
        aria-label="Files to attach"
        onChange={(event) => {
          add(event.target.files ?? []);
          event.target.value = ""; // the same file may be chosen again
        }}
      />
    </>
  );
}

/** Why nothing can be said here; "": it can. */
function useSilence(store: SessionStore): string {
  const app = useApp();
  useConnection(); // who we are comes with the connection
  const welcome = useKey(app.emitter, "welcome", () => app.welcome);
  const view = useView(store);
  if (view?.status === "closed") return "This session is closed";
  if (welcome !== undefined && !app.may("input")) return "You may look here, not write";
  return "";
}

/** Clearing a draft can be taken back: by a button for a moment, and by Ctrl+Z until more is written. */
function useClearing(
  store: SessionStore,
  text: string,
  setText: (text: string) => void,
  attachments: Attachments,
): { clear: () => void; undo: () => boolean } {
  const app = useApp();
  const cleared = useRef("");
  const { clear: detach, restore, all } = attachments;
  const kept = useRef(all);
  const undo = (): boolean => {
    if (cleared.current === "" && kept.current.length === 0) return false;
    setText(cleared.current);
    restore(kept.current);
    cleared.current = "";
    kept.current = [];
    talkOf(store).composer?.focus();
    return true;
  };
  const clear = (): void => {
    cleared.current = text;
    kept.current = all;
    setText("");
    detach();
    app.ui.toast("Draft cleared", "info", { label: "Undo", run: () => void undo() });
  };
  return { clear, undo };
}

interface Handled {
  readonly field: { readonly current: HTMLTextAreaElement | null };
  readonly menu: { readonly current: Menu | null };
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly clear: () => void;
}

/** Others on the page reach the composer by `talkOf(store).composer`. */
function useHandle(store: SessionStore, now: Handled): void {
  const last = useRef(now);
  useEffect(() => {
    last.current = now;
  });
  useEffect(() => {
    const talk = talkOf(store);
    const handle = {
      hasText: () => last.current.text !== "",
      hasFocus: () => document.activeElement === last.current.field.current,
      menuOpen: () => last.current.menu.current?.open === true,
      closeMenu: () => last.current.menu.current?.close(),
      clear: () => last.current.clear(),
      focus: () => last.current.field.current?.focus(),
      insert: (words: string) => {
        const { text, setText, field } = last.current;
        setText(text === "" ? words : `${text.replace(/\s+$/, "")}\n${words}`);
        field.current?.focus();
      },
    };
    talk.composer = handle;
    return () => {
      if (talk.composer === handle) talk.composer = undefined;
    };
  }, [store]);
}

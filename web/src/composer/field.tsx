import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { keysOf } from "../keys/actions.ts";
import { chordOf } from "../keys/chord.ts";
import { MAC } from "../keys/mac.ts";
import { useMedia } from "../parts/use-media.ts";
import { useSettings } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { Recall, said } from "./recall.ts";
import style from "./composer.module.css";
import { SuggestionList, optionId } from "./suggestion-list.tsx";
import { replaced } from "./tokens.ts";
import type { Agent } from "./use-agent.ts";
import { type Suggestion, useSuggestions } from "./use-suggestions.ts";

/** What the frame around it has to know of its list of suggestions. */
export interface Menu {
  readonly open: boolean;
  readonly close: () => void;
}

interface Props {
  readonly store: SessionStore;
  readonly agent: Agent;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly placeholder: string;
  readonly disabled: boolean;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly menu: RefObject<Menu | null>;
  readonly onSend: (text: string) => void;
  /** Ctrl+Z with nothing written: what was cleared comes back. */
  readonly onUndo: () => boolean;
  readonly onFiles: (files: Iterable<File>) => void;
  readonly onKey: () => void;
}

const LONG = 50_000; // characters; a paste beyond it is better carried as a file

/** The text itself: it grows with what is written, and knows commands, files and earlier messages. */
export function Field(props: Props): ReactNode {
  const { store, agent, text, setText, field, menu } = props;
  const id = useId();
  const { keys } = useSettings();
  const touch = useMedia("(pointer: coarse)");
  const [caret, setCaret] = useState(text.length);
  const [at, setAt] = useState(0);
  const [dismissed, setDismissed] = useState("");
  const [focused, setFocused] = useState(false);
  const recall = useRef(new Recall());
  const nextCaret = useRef<number | undefined>(undefined);
  const { token, all, exact } = useSuggestions(store, agent, text, caret);
  const open = focused && all.length > 0 && dismissed !== text;
  const chosen = Math.min(at, all.length - 1);

  useImperativeHandle(menu, () => ({ open, close: () => setDismissed(text) }), [open, text]);
  useLayoutEffect(() => grow(field.current));
  useLayoutEffect(() => {
    if (nextCaret.current === undefined) return;
    field.current?.setSelectionRange(nextCaret.current, nextCaret.current);
    nextCaret.current = undefined;
  });

  const write = (next: string, to: number): void => {
    setText(next);
    setCaret(to);
    setAt(0);
    nextCaret.current = to;
  };
  const choose = (one: Suggestion): void => {
    if (token === undefined) return;
    const made = replaced(text, token, one.word);
    write(made.text, made.caret);
    field.current?.focus();
  };
  const inMenu = (event: KeyboardEvent): boolean => {
    switch (event.key) {
      case "ArrowDown":
        setAt((chosen + 1) % all.length);
        return true;
      case "ArrowUp":
        setAt((chosen - 1 + all.length) % all.length);
        return true;
      case "Enter":
      case "Tab": {
        const one = all[chosen];
        if (event.shiftKey || one === undefined) return false;
        if (event.key === "Enter" && exact && chosen === 0) return false;
        choose(one);
        return true;
      }
      default:
        return false;
    }
  };
  const through = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { selectionStart, selectionEnd } = event.currentTarget;
    if (selectionStart !== selectionEnd) return false;
    if (text !== "" && !recall.current.shows(text)) return false;
    const up = event.key !== "ArrowDown";
    if (!up && (event.shiftKey || event.altKey)) return false;
    const beyond = up ? text.slice(0, selectionStart) : text.slice(selectionStart);
    if (beyond.includes("\n")) return false;
    const found = up ? recall.current.older(() => said(store)) : recall.current.newer();
    if (found === undefined) return false;
    write(found, up ? 0 : found.length);
    setDismissed(found);
    return true;
  };
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    props.onKey();
    if (event.nativeEvent.isComposing) return;
    const command = event.ctrlKey || event.metaKey;
    const chord = chordOf(event.nativeEvent, MAC);
    // on a phone Enter makes a new line, whatever else sends
    const sends = chord === "Mod+Enter" || (chord === keysOf("send", keys) && !touch);
    if (open && !command && inMenu(event)) event.preventDefault();
    else if (sends) {
      event.preventDefault();
      recall.current.leave();
      props.onSend(text);
    } else if (chord === keysOf("new-line", keys) && chord !== "Shift+Enter" && chord !== "Enter") {
      event.preventDefault();
      const { selectionStart, selectionEnd } = event.currentTarget;
      const after = text.slice(selectionEnd);
      write(`${text.slice(0, selectionStart)}\n${after}`, selectionStart + 1);
    } else if (chord === keysOf("recall", keys) || event.key === "ArrowDown") {
      if (through(event)) event.preventDefault();
    } else if (event.key === "z" && command && !event.shiftKey && text === "") {
      if (props.onUndo()) event.preventDefault();
    }
  };
  const pasted = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    const words = event.clipboardData.getData("text/plain");
    if (files.length === 0 && words.length <= LONG) return;
    event.preventDefault();
    props.onFiles(
      files.length > 0 ? files : [new File([words], "pasted.txt", { type: "text/plain" })],
    );
  };
  const list = `${id}-list`;
  return (
    <>
      {open && (
        <SuggestionList
          id={list}
          label={token?.kind === "file" ? "Files" : "Commands"}
          all={all}
          at={chosen}
          onPoint={setAt}
          onChoose={choose}
        />
      )}
      <textarea
        ref={field}
        className={style.field}
        rows={1}
        aria-label="Message"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={open ? list : undefined}
        aria-activedescendant={open ? optionId(list, chosen) : undefined}
        placeholder={props.placeholder}
        disabled={props.disabled}
        autoComplete="off"
        spellCheck
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setCaret(event.target.selectionStart);
          setAt(0);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={pressed}
        onPaste={pasted}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      />
    </>
  );
}

/** As high as its text; the style sheet says where that ends. */
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null || CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

import { type ReactNode, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { X } from "lucide-react";
import { say } from "../notify/say.ts";
import type { Toast } from "../store/ui.ts";
import { Button } from "./button.tsx";
import { topmost } from "./topmost.ts";
import { useApp, useKey } from "./use-store.ts";
import style from "./toasts.module.css";

const STAYS_MS = 6000;
/** What somebody may want to act on. */
const LONG_MS = 12_000;

/** Short words about what was just done. They take no focus, and wait while somebody is at them. */
export function Toasts(): ReactNode {
  const { ui } = useApp();
  const toasts = useKey(ui.emitter, "toasts", () => ui.toasts);
  const [place] = useState(topmost);
  return createPortal(
    <section className={style.toasts} aria-label="Messages">
      {toasts.map((one) => (
        <One key={one.id} toast={one} onOver={() => ui.dismiss(one.id)} />
      ))}
    </section>,
    place,
  );
}

function One({ toast, onOver }: { readonly toast: Toast; readonly onOver: () => void }): ReactNode {
  const [held, setHeld] = useState(false);
  const before = useRef<Element | null>(null);
  const over = useRef(onOver);
  useEffect(() => {
    over.current = onOver;
  });
  useEffect(() => {
    say(toast.text, toast.level === "error" ? "assertive" : "polite");
  }, [toast]);
  useEffect(() => {
    if (held) return;
    const long = toast.level === "error" || toast.undo !== undefined;
    const timer = setTimeout(() => over.current(), long ? LONG_MS : STAYS_MS);
    return () => clearTimeout(timer);
  }, [held, toast]);
  // whoever came here by keyboard goes back to where they were
  const leave = (): void => {
    onOver();
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
  };
  return (
    // what is pointed at, or has the focus, does not go away meanwhile
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className={style.toast}
      data-level={toast.level}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget))
          before.current = event.relatedTarget;
        setHeld(true);
      }}
      onBlur={() => setHeld(false)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        event.preventDefault(); // the dialog below stays
        leave();
      }}
    >
      <span className={style.text}>{toast.text}</span>
      {toast.undo !== undefined && (
        <Button
          onClick={() => {
            toast.undo?.run();
            leave();
          }}
        >
          {toast.undo.label}
        </Button>
      )}
      <Button look="quiet" aria-label="Dismiss" icon={<X aria-hidden="true" />} onClick={leave} />
    </div>
  );
}

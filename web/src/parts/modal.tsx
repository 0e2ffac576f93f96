import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from "react";
import { X } from "lucide-react";
import { Button } from "./button.tsx";
import { focusView } from "./nobody.ts";
import { cover, uncover } from "./topmost.ts";
import style from "./modal.module.css";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** `drawer…`: it slides in from that side instead of standing in the middle. */
  readonly look?: "small" | "form" | "drawerStart" | "drawerEnd";
  readonly children: ReactNode;
}

/**
 * Something that has to be dealt with before the rest. The browser's own dialog: it keeps the
 * focus inside, gives it back to where it was, and Escape closes it.
 */
export function Modal({ title, onClose, look = "form", children }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const label = useId();
  useEffect(() => {
    const one = dialog.current;
    if (one === null) return;
    const before = document.activeElement;
    if (!one.open) one.showModal();
    cover(one);
    one.querySelector<HTMLElement>("[data-focus]")?.focus();
    one.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      one.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      focusView(); // unless somebody had it
    };
  }, []);
  useLayoutEffect(() => {
    const one = dialog.current;
    return () => {
      if (one !== null) uncover(one); // while it is still there
    };
  }, []);
  // Escape is ours here: nothing behind may take it for a word to the agent
  const keep = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      ref={dialog}
      className={`${style.modal} ${style[look]}`}
      aria-labelledby={label}
      onKeyDown={keep}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className={style.sheet}>
        <header className={style.head}>
          <h2 id={label}>{title}</h2>
          <Button
            look="quiet"
            aria-label="Close"
            icon={<X aria-hidden="true" />}
            onClick={onClose}
          />
        </header>
        <div className={style.body}>{children}</div>
      </div>
    </dialog>
  );
}

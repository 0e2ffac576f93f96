import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { useMedia } from "../parts/use-media.ts";
import type { Content } from "../protocol.gen.ts";
import { textIn } from "./recall.ts";
import style from "./waiting.module.css";

interface Props {
  readonly content: readonly Content[];
  /** What was written so far; "": nothing yet. */
  readonly begun: string;
  /** It is kept by others, so that a reload loses nothing. */
  readonly onText: (text: string) => void;
  /** Never called with nothing. */
  readonly onSave: (content: Content[]) => void;
  readonly onLeave: () => void;
}

/** Other words for a message that still waits; what is attached to it stays. */
export function EditQueued({ content, begun, onText, onSave, onLeave }: Props): ReactNode {
  const [text, setText] = useState(() => begun || textIn(content));
  const touch = useMedia("(pointer: coarse)");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const end = field.current?.value.length ?? 0;
    field.current?.focus();
    field.current?.setSelectionRange(end, end);
    field.current?.parentElement?.scrollIntoView({ block: "nearest" }); // its buttons, too
  }, []);
  const rest = content.filter((one) => one.type !== "text");
  const words: Content[] = text.trim() === "" ? [] : [{ type: "text", text }];
  const next = [...words, ...rest];
  const save = (): void => {
    if (next.length > 0) onSave(next);
  };
  return (
    <div className={style.edit} role="group" aria-label="Change a waiting message">
      <textarea
        ref={field}
        aria-label="Changed message"
        rows={2}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.preventDefault();
            onLeave();
          } else if (event.key === "Enter" && !event.shiftKey && !touch) {
            event.preventDefault();
            save();
          }
        }}
      />
      <Button disabled={next.length === 0} onClick={save}>
        Save
      </Button>
      <Button look="quiet" onClick={onLeave}>
        Leave as it was
      </Button>
    </div>
  );
}

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { useApp } from "../parts/use-store.ts";
import type { Content } from "../protocol.gen.ts";
import { textIn } from "./recall.ts";
import style from "./waiting.module.css";

interface Props {
  readonly session: string;
  readonly id: string;
  readonly content: readonly Content[];
  readonly onDone: () => void;
}

/** Other words for a message that still waits; what is attached to it stays. */
export function EditQueued({ session, id, content, onDone }: Props): ReactNode {
  const app = useApp();
  const [text, setText] = useState(() => textIn(content));
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = async (): Promise<void> => {
    const rest = content.filter((one) => one.type !== "text");
    const words: Content[] = text.trim() === "" ? [] : [{ type: "text", text }];
    const next = [...words, ...rest];
    if (next.length === 0) return;
    if (await app.attempt(session, { type: "edit_queued", key: id, content: next })) onDone();
  };
  return (
    <div className={style.edit} role="group" aria-label="Change a waiting message">
      <textarea
        ref={field}
        aria-label="Changed message"
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.preventDefault();
            onDone();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            void save();
          }
        }}
      />
      <Button onClick={() => void save()}>Save</Button>
      <Button look="quiet" onClick={onDone}>
        Leave as it was
      </Button>
    </div>
  );
}

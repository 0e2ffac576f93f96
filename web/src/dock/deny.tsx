import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import style from "./dock.module.css";

interface Props {
  readonly plan: boolean;
  readonly off: boolean;
  readonly onDeny: (message: string, stop: boolean) => void;
  readonly onBack: () => void;
}

/** No, and what to do instead. */
export function Deny({ plan, off, onDeny, onBack }: Props): ReactNode {
  const [message, setMessage] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const deny = (stop: boolean): void => {
    if (!off) onDeny(message.trim(), stop);
  };
  return (
    <form
      className={style.form}
      aria-label={plan ? "Keep planning" : "Deny"}
      onSubmit={(event) => {
        event.preventDefault();
        deny(false);
      }}
    >
      <label className={style.input}>
        <span>{plan ? "What should be different?" : "What should it do instead? Optional."}</span>
        <textarea
          ref={field}
          rows={2}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            deny(false);
          }}
        />
      </label>
      <div className={style.actions}>
        <Button onClick={onBack}>Back</Button>
        <span className={style.gap} />
        <Button className={style.right} aria-disabled={off} onClick={() => deny(true)}>
          {plan ? "Reject and stop" : "Deny and stop"}
        </Button>
        <Button type="submit" look="danger" className={style.deny} aria-disabled={off}>
          {plan ? "Keep planning" : "Deny"}
        </Button>
      </div>
    </form>
  );
}

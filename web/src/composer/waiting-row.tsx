import type { ReactNode } from "react";
import { Clock, Pencil, TriangleAlert, X } from "lucide-react";
import { Button } from "../parts/button.tsx";
import style from "./waiting.module.css";

interface Props {
  /** What it waits for. */
  readonly said: string;
  readonly text: string;
  readonly why?: string;
  /** Somebody has to do something about it. */
  readonly refused?: boolean;
  /** Buttons. */
  readonly children?: ReactNode;
}

/** One message that has not reached the agent. */
export function WaitingRow({ said, text, why, refused = false, children }: Props): ReactNode {
  const Sign = refused ? TriangleAlert : Clock;
  return (
    <li className={style.one} data-refused={refused || undefined}>
      <Sign aria-hidden="true" />
      <div className={style.body}>
        <span className={style.said}>{said}</span>
        <span className={style.text}>{text}</span>
        {why !== undefined && (
          <span className={style.why} role={refused ? "alert" : undefined}>
            {why}
          </span>
        )}
      </div>
      {children !== undefined && <div className={style.acts}>{children}</div>}
    </li>
  );
}

export function ChangeButton({ onClick }: { readonly onClick: () => void }): ReactNode {
  return <Act label="Change this message" icon={<Pencil aria-hidden="true" />} onClick={onClick} />;
}

export function TakeBackButton({ onClick }: { readonly onClick: () => void }): ReactNode {
  return <Act label="Take this message back" icon={<X aria-hidden="true" />} onClick={onClick} />;
}

interface ActProps {
  readonly label: string;
  readonly icon: ReactNode;
  readonly onClick: () => void;
}

function Act({ label, icon, onClick }: ActProps): ReactNode {
  return <Button look="quiet" aria-label={label} title={label} icon={icon} onClick={onClick} />;
}

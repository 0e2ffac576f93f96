import type { ReactNode } from "react";
import { FileText, X } from "lucide-react";
import { Picture } from "../parts/picture.tsx";
import { bytes } from "../parts/spoken.ts";
import type { Attached } from "./attach.ts";
import style from "./attachments.module.css";

interface Props {
  readonly all: readonly Attached[];
  readonly remove: (id: string) => void;
}

/** What goes with the message, each with a way to take it back. */
export function AttachmentRow({ all, remove }: Props): ReactNode {
  if (all.length === 0) return null;
  return (
    <ul className={style.row} aria-label="Attached">
      {all.map((one) => (
        <li key={one.id} className={style.one}>
          <Thumb one={one} />
          <span className={style.words}>
            <span className={style.name}>{one.name}</span>
            <span className={style.note}>
              {one.content === undefined ? "reading…" : bytes(one.size)}
              {one.note === "" ? "" : `, ${one.note}`}
            </span>
          </span>
          <button
            type="button"
            className={style.remove}
            aria-label={`Remove ${one.name}`}
            onClick={() => remove(one.id)}
          >
            <X aria-hidden="true" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Thumb({ one }: { readonly one: Attached }): ReactNode {
  if (one.content?.type === "image") {
    return <Picture className={style.thumb} part={one.content} alt="" />;
  }
  return (
    <span className={style.thumb}>
      <FileText aria-hidden="true" />
    </span>
  );
}

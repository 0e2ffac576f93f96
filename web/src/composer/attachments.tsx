import type { ReactNode } from "react";
import { FileText, X } from "lucide-react";
import { blobUrl } from "../link/blobs.ts";
import { bytes } from "../parts/spoken.ts";
import type { Attached, AttachedContent } from "./attach.ts";
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
    return <img className={style.thumb} src={sourceOf(one.content)} alt="" />;
  }
  return (
    <span className={style.thumb}>
      <FileText aria-hidden="true" />
    </span>
  );
}

/** Where the browser finds a picture of a message. */
export function sourceOf(content: AttachedContent): string {
  if (content.blob !== undefined && content.blob !== "") return blobUrl(content.blob);
  return `data:${content.media_type};base64,${content.data ?? ""}`;
}

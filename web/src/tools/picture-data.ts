/** Pictures that tools bring back, wherever in their results they lie. */
import type { Json, ToolItem } from "../store/items.ts";
import { fieldsOf, listOf, textOf } from "../store/values.ts";

export interface Picture {
  readonly type: string;
  /** In base64. */
  readonly data: string;
}

const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MOST = 12;

/** Whether a tool brought back a picture, as far as its result tells before it is fetched. */
export function hasPicture(item: ToolItem): boolean {
  if (item.status !== "ok") return false;
  const detail = fieldsOf(item.detail);
  return detail["type"] === "image" || detail["isImage"] === true || /^\[image\]$/m.test(item.text);
}

/** In a file that was read, in blocks of a result, in those of a server's tool. */
export function picturesIn(detail: Json): readonly Picture[] {
  const found: Picture[] = [];
  const take = (type: string, data: string): void => {
    if (KINDS.has(type) && data !== "" && found.length < MOST) found.push({ type, data });
  };
  const block = (raw: Json): void => {
    const one = fieldsOf(raw);
    if (one["type"] !== "image") return;
    const source = fieldsOf(one["source"] ?? null);
    take(textOf(source["media_type"]), textOf(source["data"]));
    take(textOf(one["mimeType"]), textOf(one["data"]));
  };
  const told = fieldsOf(detail);
  const file = fieldsOf(told["file"] ?? null);
  take(textOf(file["type"]), textOf(file["base64"]));
  for (const one of [...listOf(detail), ...listOf(told["content"] ?? null)]) block(one);
  const printed = /^data:([a-z/]+);base64,(.+)$/s.exec(textOf(told["stdout"]).trim());
  if (told["isImage"] === true) take(printed?.[1] ?? "", printed?.[2] ?? "");
  return found;
}

/** A session as a file: read page by page from its beginning, and saved by the browser. */
import { wordsOf } from "../link/errors.ts";
import { blobText } from "../link/blobs.ts";
import { GatewayError, type App } from "../store/app.ts";
import type { EventLine } from "../protocol.gen.ts";
import { titleOf } from "../store/attention.ts";
import { Transcript } from "../store/reduce.ts";
import { fieldsOf, listOf, numberOf } from "../store/values.ts";
import { markdownOf } from "./export-markdown.ts";

const PAGE_BYTES = 1 << 20;
const MAX_PAGES = 2000;
/** Texts that were too long for the log; the rest of them is named in the document. */
const MAX_BLOBS = 200;

export type Kind = "markdown" | "json";

export async function download(app: App, session: string, kind: Kind): Promise<void> {
  const row = app.listing.row(session);
  const name = fileName(titleOf(row ?? { title: "", cwd: "", session }));
  try {
    const events = await wholeLog(app, session);
    if (kind === "json") {
      const kept = events.map(({ seq, at_ms, event }) => ({ seq, at_ms, event }));
      const info = { ...row, exported_ms: Date.now() };
      const frame = { format: "flybridge.session", version: 1, session, info, events: kept };
      save(`${name}.json`, JSON.stringify(frame, null, 1), "application/json");
    } else {
      const transcript = new Transcript();
      for (const one of events) transcript.apply(one);
      await fill(transcript);
      save(`${name}.md`, markdownOf(transcript, row, session), "text/markdown");
    }
  } catch (error) {
    app.ui.toast(`It could not be exported: ${wordsOf(error)}.`, "error");
  }
}

/** Everything there is when this begins, in order and without a gap. */
export async function wholeLog(app: Pick<App, "ask">, session: string): Promise<EventLine[]> {
  const found: EventLine[] = [];
  let head = -1;
  let epoch = -1;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const after = found.at(-1)?.seq ?? 0;
    const value = fieldsOf(await app.ask("page", { session, after, max_bytes: PAGE_BYTES }));
    if (head < 0) {
      head = numberOf(value["head"]);
      epoch = numberOf(value["epoch"]);
    } else if (numberOf(value["epoch"]) !== epoch) {
      throw new GatewayError("busy", "the log began anew meanwhile");
    }
    const events = listOf(value["events"]) as unknown as EventLine[];
    found.push(...events.filter((one) => one.seq <= head));
    if (events.length === 0 || (events.at(-1)?.seq ?? 0) >= head) return found;
  }
  throw new GatewayError("too_long", "the log is too long for this page");
}

/** Puts in the texts that the log only names. */
async function fill(transcript: Transcript): Promise<void> {
  let left = MAX_BLOBS;
  for (const item of transcript.items.values()) {
    if (left === 0) return;
    if ((item.kind !== "text" && item.kind !== "plan") || item.blob === "") continue;
    left -= 1;
    const text = await blobText(item.blob).catch(() => undefined);
    if (text !== undefined) transcript.put({ ...item, text, blob: "" });
  }
}

export function fileName(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replaceAll(/[^\w.-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return plain.slice(0, 80) || "session";
}

function save(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // the browser reads it a moment later
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

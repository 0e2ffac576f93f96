/** The worker's end of the line: requests in, colours out, in the order they came. */

import { Colourer } from "./colour.ts";
import type { ToPage, ToWorker } from "./highlight.ts";

const colourer = new Colourer();
let queue: Promise<void> = Promise.resolve();

async function answer(asked: ToWorker): Promise<void> {
  if (asked.type === "forget") return colourer.forget(asked.id);
  const { id, language, lines, last } = asked;
  const colours = await colourer.colour(id, language, lines).catch(() => null);
  if (last) colourer.forget(id);
  const said: ToPage = { id, colours };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
  globalThis.postMessage(said);
}

globalThis.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  queue = queue.then(() => answer(data));
});

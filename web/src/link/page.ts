/** Whether the gateway would still send this very page: after an upgrade its parts have other names. */
import { basePath } from "./base.ts";

const WAIT_MS = 5000;
const OURS = 'id="root"';

/** `script`: where this page's own script is from. Nobody there to ask: it is, as far as we know. */
export async function isCurrent(script: string): Promise<boolean> {
  try {
    const answer = await fetch(`${basePath()}/`, {
      cache: "no-cache",
      signal: AbortSignal.timeout(WAIT_MS),
    });
    return !answer.ok || !isAnother(await answer.text(), script);
  } catch {
    return true;
  }
}

/** A page of ours with another script; what a proxy says in between is none of ours. */
export function isAnother(html: string, script: string): boolean {
  const name = new URL(script).pathname.split("/").at(-1) ?? "";
  return html.includes(OURS) && !html.includes(`/${name}"`);
}

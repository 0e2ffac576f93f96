/** Conversations an agent had on this machine, with the gateway or without it. */
import { call } from "../link/http.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly prompt: string;
  readonly cwd: string;
  readonly model: string;
  readonly branch: string;
  readonly startedMs: number;
  readonly modifiedMs: number;
  readonly size: number;
  /** The session that goes on with it; "": none does. */
  readonly session: string;
}

/** Where something was said. */
export interface Hit {
  readonly id: string;
  readonly uuid: string;
  readonly atMs: number;
  readonly who: string;
  readonly excerpt: string;
  readonly cwd: string;
  readonly session: string;
}

export const PAGE = 50;
/** The agent whose conversations they are. */
export const CLAUDE = "claude";

export async function conversations(beforeMs = 0, cwd = ""): Promise<readonly Conversation[]> {
  const query = new URLSearchParams({ limit: String(PAGE), before_ms: String(beforeMs) });
  if (cwd !== "") query.set("cwd", cwd);
  const value = fieldsOf(await call("GET", `/history?${query}`));
  return listOf(value["conversations"]).map((raw) => {
    const one = fieldsOf(raw);
    return {
      id: textOf(one["conversation"]),
      title: textOf(one["title"]),
      prompt: textOf(one["prompt"]),
      cwd: textOf(one["cwd"]),
      model: textOf(one["model"]),
      branch: textOf(one["branch"]),
      startedMs: numberOf(one["started_ms"]),
      modifiedMs: numberOf(one["modified_ms"]),
      size: numberOf(one["size"]),
      session: textOf(one["session"]),
    };
  });
}

export interface Found {
  readonly hits: readonly Hit[];
  readonly files: number;
  /** Why it did not look at everything; "": it did. */
  readonly stopped: string;
}

export async function searched(words: string): Promise<Found> {
  const value = fieldsOf(
    await call("GET", `/history/search?${new URLSearchParams({ words, limit: "100" })}`),
  );
  return {
    hits: listOf(value["hits"]).map((raw) => {
      const one = fieldsOf(raw);
      return {
        id: textOf(one["conversation"]),
        uuid: textOf(one["uuid"]),
        atMs: Date.parse(textOf(one["at"])) || 0,
        who: textOf(one["who"]),
        excerpt: textOf(one["excerpt"]),
        cwd: textOf(one["cwd"]),
        session: textOf(one["session"]),
      };
    }),
    files: numberOf(value["files"]),
    stopped: textOf(value["stopped"]),
  };
}

/** Keeps it as a session, without starting an agent; the session's id. */
export async function imported(id: string): Promise<string> {
  const value = await call("POST", `/history/${encodeURIComponent(id)}/import`, {
    archived: false,
  });
  return textOf(fieldsOf(value)["session"]);
}

export function nameOf(one: Conversation): string {
  return one.title || one.prompt.replaceAll(/\s+/g, " ").slice(0, 120) || one.id;
}

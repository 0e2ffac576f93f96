/** Conversations agents had on this machine, with the gateway or without it. */
import { call } from "../link/http.ts";
import { fieldsOf, listOf, numberOf, textOf, textsOf } from "../store/values.ts";

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
  readonly kind: string;
  /** The agent that can go on with it. */
  readonly agent: string;
}

export interface Listed {
  readonly conversations: readonly Conversation[];
  /** Kinds of agents that have a history. */
  readonly kinds: readonly string[];
  /** Kinds whose history could not be read. */
  readonly unread: readonly string[];
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
  readonly kind: string;
  readonly agent: string;
}

export const PAGE = 50;

/** The newest conversations of a kind of agent; "": of every kind that has a history. */
export async function conversations(kind = "", beforeMs = 0, cwd = ""): Promise<Listed> {
  const query = new URLSearchParams({ kind, limit: String(PAGE), before_ms: String(beforeMs) });
  if (cwd !== "") query.set("cwd", cwd);
  const value = fieldsOf(await call("GET", `/history?${query}`));
  const found = listOf(value["conversations"]).map((raw) => {
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
      kind: textOf(one["kind"]),
      agent: textOf(one["agent"]),
    };
  });
  return {
    conversations: found,
    kinds: textsOf(value["kinds"]),
    unread: textsOf(value["unread"]),
  };
}

export interface Found {
  readonly hits: readonly Hit[];
  readonly files: number;
  readonly kinds: readonly string[];
  readonly unread: readonly string[];
  /** Why it did not look at everything; "": it did. */
  readonly stopped: string;
}

export async function searched(words: string): Promise<Found> {
  const value = fieldsOf(
    await call("GET", `/history/search?${new URLSearchParams({ kind: "", words, limit: "100" })}`),
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
        kind: textOf(one["kind"]),
        agent: textOf(one["agent"]),
      };
    }),
    files: numberOf(value["files"]),
    kinds: textsOf(value["kinds"]),
    unread: textsOf(value["unread"]),
    stopped: textOf(value["stopped"]),
  };
}

/** Keeps it as a session, without starting an agent; the session's id. */
export async function imported({ id, agent }: Pick<Conversation, "id" | "agent">): Promise<string> {
  const value = await call("POST", `/history/${encodeURIComponent(id)}/import`, {
    agent,
    archived: false,
  });
  return textOf(fieldsOf(value)["session"]);
}

export function nameOf(one: Conversation): string {
  return one.title || one.prompt.replaceAll(/\s+/g, " ").slice(0, 120) || one.id;
}

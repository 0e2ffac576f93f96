/**
 * What a session wants of a person: one function, read by rail, board, title, badge and
 * notifications, so that none of them can say something else than the others.
 */
import type { Row } from "./rows.ts";
import { wants } from "./wants.ts";

/** `waiting`: for you. `failed`: its last turn ended badly. */
export type Attention = "waiting" | "running" | "failed" | "idle" | "off" | "closed";

export function attention(row: Row): Attention {
  if (row.status === "closed") return "closed";
  if (row.prompts > 0 || row.why === "permission" || row.why === "question") return "waiting";
  if (row.status === "running" || row.status === "starting") return "running";
  if (row.ended === "error" || row.ended === "agent_exited") return "failed";
  return row.status === "off" ? "off" : "idle";
}

/** What it says at the moment, for whoever hears that; "": neither, or nobody knows. */
export type Saying = "text" | "thinking" | "";

/** The second line of a row: what it wants, or does now. */
export function doing(row: Row, saying: Saying = ""): string {
  switch (attention(row)) {
    case "closed":
      return "Closed";
    case "waiting":
      return row.why === "question" ? "Asks you a question" : wants(row.tool, row.toolKind);
    case "failed":
      return "The last turn failed";
    case "idle":
      return "Ready";
    case "off":
      return "Asleep";
    case "running":
      return whileRunning(row, saying);
  }
}

function whileRunning(row: Row, saying: Saying): string {
  if (row.status === "starting") return "Starting";
  switch (row.why) {
    case "tool":
      return `Runs ${row.tool || "a tool"}`;
    case "compaction":
      return "Compacts its context";
    case "rate_limit":
      return "Waits for the rate limit";
    case "retry":
      return "Tries again";
    case "wedged":
      return "Has been silent for long";
    case "queue":
      return "Takes your message";
    default:
      return SAYS[saying];
  }
}

const SAYS: Readonly<Record<Saying, string>> = { text: "Writes", thinking: "Thinks", "": "Works" };

const RANK: Readonly<Record<Attention, number>> = {
  waiting: 0,
  running: 1,
  failed: 2,
  idle: 3,
  off: 4,
  closed: 5,
};

/** Who needs somebody comes first; then who works; then the newest. */
export function byAttention(a: Row, b: Row): number {
  const rank = RANK[attention(a)] - RANK[attention(b)];
  if (rank !== 0 && (RANK[attention(a)] < 2 || RANK[attention(b)] < 2)) return rank;
  return b.changedMs - a.changedMs;
}

export function titleOf(row: Pick<Row, "title" | "cwd" | "session">): string {
  const folder = row.cwd.replace(/\/+$/, "").split("/").pop();
  return row.title || folder || row.session;
}

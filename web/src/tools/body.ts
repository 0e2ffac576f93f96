import type { ToolItem } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";

/** What the inside of a tool's card gets. */
export interface BodyProps {
  readonly store: SessionStore;
  readonly item: ToolItem;
  /** The session's folder: paths below it are said from there. */
  readonly cwd: string;
}

/** How long people were waited for: the time a prompt was open is not time that was worked. */
import type { Item, Prompt } from "./items.ts";

/** The turn, where calls of sub-agents are named by their ids. */
const TURN = "";
/** Sub-agents within sub-agents; a log that says more contradicts itself. */
const DEEPEST = 50;

/**
 * Counts, for the turn and for each sub-agent, the time in which at least one of their prompts was
 * open. Several at once count once.
 */
export class Waits {
  private readonly since = new Map<string, number>();
  private readonly open = new Map<string, readonly string[]>();
  private turnMs = 0;

  constructor(private readonly items: ReadonlyMap<string, Item>) {}

  opened(prompt: Prompt, atMs: number): void {
    const owners = [TURN, ...this.above(prompt)];
    this.open.set(prompt.id, owners);
    for (const owner of owners) if (!this.since.has(owner)) this.since.set(owner, atMs);
  }

  /** The calls of sub-agents that do not wait any more, and for how long they did. */
  closed(prompt: string, atMs: number): ReadonlyMap<string, number> {
    const owners = this.open.get(prompt) ?? [];
    this.open.delete(prompt);
    const waiting = new Set([...this.open.values()].flat());
    const done = new Map<string, number>();
    for (const owner of owners) {
      const since = this.since.get(owner);
      if (since === undefined || waiting.has(owner)) continue;
      this.since.delete(owner);
      if (owner === TURN) this.turnMs += Math.max(0, atMs - since);
      else done.set(owner, Math.max(0, atMs - since));
    }
    return done;
  }

  /** A turn begins: what was waited for before is not its time. */
  begin(atMs: number): void {
    this.turnMs = 0;
    if (this.since.has(TURN)) this.since.set(TURN, atMs);
  }

  /** How long this turn has waited for a person. */
  ofTurn(atMs: number): number {
    const since = this.since.get(TURN);
    return this.turnMs + (since === undefined ? 0 : Math.max(0, atMs - since));
  }

  /** All prompts are gone with the agent. */
  end(atMs: number): void {
    for (const prompt of this.open.keys()) this.closed(prompt, atMs);
  }

  private above(prompt: Prompt): readonly string[] {
    return callsAbove(this.items, prompt);
  }
}

/** The calls of the sub-agents that a prompt comes from, the innermost first. */
export function callsAbove(items: ReadonlyMap<string, Item>, prompt: Prompt): readonly string[] {
  const found: string[] = [];
  let id = prompt.parent || (items.get(prompt.item)?.parent ?? "");
  while (id !== "" && !found.includes(id) && found.length < DEEPEST) {
    found.push(id);
    id = items.get(id)?.parent ?? "";
  }
  return found;
}

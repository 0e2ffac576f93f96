/**
 * The fold of a session's log into what can be looked at.
 *
 * The same events in the same order give the same transcript, wherever they came from. Items are
 * immutable; every change replaces one and names it to `changed`, so that only what changed is drawn.
 */
import type { EventLine, PreviewLine, SessionEvent } from "../protocol.gen.ts";
import type { Saying } from "./attention.ts";
import type { Base, Item, Json, Prompt, Task, TextItem, ToolItem } from "./items.ts";
import { endGuessed, endOpen, stopTools } from "./endings.ts";
import { noteOf } from "./notes.ts";
import { promptOfEvent } from "./prompts.ts";
import { reduceInput } from "./reduce-inputs.ts";
import {
  answeredTool,
  closeText,
  decidedTool,
  emptyText,
  emptyTool,
  reduceTool,
  resultOf,
} from "./reduce-items.ts";
import { type Background, backgroundIn, tasksIn } from "./tasks.ts";
import { type Fields, fieldsOf } from "./values.ts";
import { Waits } from "./waits.ts";

export type Changed = (key: string) => void;

/** What an open item streamed so far, counted in the agent's deltas. */
export interface Draft {
  text: string;
  have: number;
  hole: boolean;
}

export class Transcript {
  readonly items = new Map<string, Item>();
  /** Ids in the order they began, of each parent; "" is the conversation itself. */
  readonly children = new Map<string, readonly string[]>([["", []]]);
  prompts: readonly Prompt[] = [];
  tasks: readonly Task[] = [];
  background: readonly Background[] = [];
  ready: Extract<SessionEvent, { type: "agent.ready" }> | undefined;
  /** All that the agent said of itself: it says it in several parts. */
  told: Readonly<Fields> = {};
  turn = "";
  /** What it says right now. */
  saying: Saying = "";
  turnStartedMs = 0;
  /** Between the marks of an imported conversation. */
  past = false;
  /** Lines changed in this turn, for its result line. */
  added = 0;
  removed = 0;

  /** What the agent refused last that is no message, and why. */
  refusal: { readonly key: string; readonly reason: string } = { key: "", reason: "" };

  /** How long people were waited for. */
  readonly waits = new Waits(this.items);

  /** Calls of sub-agents that were only named by what they did. */
  readonly guessed = new Set<string>();

  constructor(private readonly changed: Changed = () => {}) {}

  apply(line: EventLine): void {
    const event = line.event;
    switch (event.type) {
      case "item.started":
      case "text.done":
      case "thinking.done":
      case "tool.started":
      case "tool.result":
      case "diff":
        this.item(event, line);
        break;
      case "input.accepted":
      case "input.dispatched":
      case "input.written":
      case "input.consumed":
      case "input.outcome":
      case "input.refused":
      case "queue.changed":
        reduceInput(this, event, line);
        break;
      case "permission.requested":
      case "question.requested":
        this.prompts = [
          ...this.prompts.filter((one) => one.id !== event.prompt),
          promptOfEvent(event, line.at_ms),
        ];
        this.waits.opened(promptOfEvent(event, line.at_ms), line.at_ms);
        this.changed("prompts");
        break;
      case "permission.closed":
      case "question.closed":
        this.closePrompt(event, line);
        break;
      case "turn.started":
        this.turn = event.turn;
        this.turnStartedMs = line.at_ms;
        this.waits.begin(line.at_ms);
        this.added = this.removed = 0;
        this.changed("turn");
        break;
      case "turn.ended":
        this.put(resultOf(this, event, line));
        endGuessed(this, line);
        if (event.reason === "interrupted") stopTools(this, event.turn, line);
        this.turn = "";
        this.changed("turn");
        break;
      case "tasks":
        this.tasks = tasksIn(event);
        this.changed("tasks");
        break;
      case "background.changed":
        this.background = backgroundIn(event);
        this.changed("background");
        break;
      case "agent.ready":
        this.ready = event;
        this.told = { ...this.told, ...fieldsOf(event.detail) };
        this.changed("ready");
        break;
      case "plan":
        this.put({
          ...this.base(`plan:${line.seq}`, line, event.parent),
          kind: "plan",
          text: event.text,
          blob: event.blob ?? "",
        });
        break;
      case "history":
        this.past = event.phase === "started";
        this.note(line);
        break;
      case "agent.exited":
        this.waits.end(line.at_ms);
        if (this.prompts.length > 0) {
          this.prompts = [];
          this.changed("prompts");
        }
        endOpen(this, line);
        if (event.asked !== true) this.note(line);
        break;
      default:
        this.note(line);
    }
  }

  /** Previews are not part of the log: an open item shows what its draft has. */
  preview(line: PreviewLine, draft: Draft): void {
    const known = this.items.get(line.item);
    if (known === undefined) return;
    if (known.kind === "tool") {
      if (known.status === "writing") this.put({ ...known, draft: draft.text });
      else if (known.status === "running") this.put({ ...known, text: draft.text });
    } else if ((known.kind === "text" || known.kind === "thinking") && known.status === "open") {
      this.put({ ...known, text: draft.text });
    }
  }

  /** The call of a sub-agent that is not in what we have of the log stands where it is first named. */
  base(id: string, line: EventLine, parent = ""): Base {
    if (parent !== "" && parent !== id && !this.items.has(parent)) {
      const call = emptyTool(this.base(parent, line), this.turn);
      const input = { description: "started earlier" };
      this.put({ ...call, name: "Agent", tool: "agent", input, status: "running" });
      this.guessed.add(parent);
    }
    return { id, parent, atMs: line.at_ms, seq: line.seq, past: this.past };
  }

  put(item: Item): void {
    const before = this.items.get(item.id);
    if ((item.kind === "text" || item.kind === "thinking") && item.parent === "") {
      this.say(item.status === "open" ? item.kind : "");
    }
    if (before === undefined) {
      this.children.set(item.parent, [...(this.children.get(item.parent) ?? []), item.id]);
      this.changed(`children:${item.parent}`);
    }
    this.items.set(item.id, item);
    this.changed(`item:${item.id}`);
    // what decides how items are put together into lines; a delta never does
    if (shapeOf(before) !== shapeOf(item)) this.changed(`shape:${item.parent}`);
  }

  private say(saying: Saying): void {
    if (saying === this.saying) return;
    this.saying = saying;
    this.changed("saying");
  }

  tool(id: string, line: EventLine, parent = ""): ToolItem {
    const known = this.items.get(id);
    return known?.kind === "tool" ? known : emptyTool(this.base(id, line, parent), this.turn);
  }

  private text(
    kind: TextItem["kind"],
    id: string,
    line: EventLine,
    parent: string | undefined,
  ): TextItem {
    const known = this.items.get(id);
    if (known?.kind === kind) return known;
    return emptyText(kind, this.base(id, line, parent), this.turn);
  }

  private item(
    event: Extract<
      SessionEvent,
      {
        type:
          "item.started" | "text.done" | "thinking.done" | "tool.started" | "tool.result" | "diff";
      }
    >,
    line: EventLine,
  ): void {
    switch (event.type) {
      case "item.started":
        if (event.kind === "tool") {
          this.put({ ...this.tool(event.item, line, event.parent), name: event.name ?? "" });
        } else {
          const text = this.text(event.kind, event.item, line, event.parent);
          this.put({ ...text, command: event.name === "command" });
        }
        break;
      case "text.done":
        this.put(closeText(this.text("text", event.item, line, event.parent), event, line));
        break;
      case "thinking.done":
        this.put(closeText(this.text("thinking", event.item, line, event.parent), event, line));
        break;
      default:
        reduceTool(this, event, line);
    }
  }

  private closePrompt(
    event: Extract<SessionEvent, { type: "permission.closed" | "question.closed" }>,
    line: EventLine,
  ): void {
    const asked = this.prompts.find((one) => one.id === event.prompt);
    this.prompts = this.prompts.filter((one) => one.id !== event.prompt);
    this.changed("prompts");
    this.waited(this.waits.closed(event.prompt, line.at_ms));
    const known = asked === undefined ? undefined : this.items.get(asked.item);
    if (asked === undefined || known?.kind !== "tool") this.note(line);
    else if (event.type === "question.closed") this.put(answeredTool(known, event, line));
    else this.put(decidedTool(known, asked.input, event, line));
  }

  /** Sub-agents whose prompts are all closed go on. */
  private waited(some: ReadonlyMap<string, number>): void {
    for (const [id, ms] of some) {
      const call = this.items.get(id);
      if (call?.kind === "tool") this.put({ ...call, waitedMs: call.waitedMs + ms });
    }
  }

  private note(line: EventLine): void {
    const note = noteOf(line.event);
    if (note === undefined) return;
    this.put({
      ...this.base(`note:${line.seq}`, line),
      kind: "note",
      event: line.event as unknown as Json,
      blob: "",
      ...note,
    });
  }
}

function shapeOf(item: Item | undefined): string {
  if (item === undefined) return "";
  if (item.kind === "tool") return `${item.tool} ${item.name} ${item.status}`;
  return item.kind === "user" ? `user ${item.stage}` : item.kind;
}

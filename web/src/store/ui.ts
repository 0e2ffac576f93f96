/** What is open on top of the view, and what was said for a moment. Nothing of it outlives the page. */
import { Emitter, type Schedule } from "./emitter.ts";

/** A panel covers the view until it is closed; "": none. */
export type Panel =
  "" | "palette" | "help" | "keys" | "settings" | "new-session" | "export" | "rename";
/** On a narrow screen one side slides over the view; "": none. */
export type Drawer = "" | "rail" | "inspector";
export type InspectorTab = "tasks" | "changes" | "context" | "mcp";

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly level: "info" | "warning" | "error";
  readonly undo?: { readonly label: string; readonly run: () => void };
}

const MAX_TOASTS = 4;

export class Ui {
  readonly emitter: Emitter;
  panel: Panel = "";
  drawer: Drawer = "";
  tab: InspectorTab = "tasks";
  toasts: readonly Toast[] = [];
  /** What was cleared from view in a session: everything up to this event. */
  private readonly cleared = new Map<string, number>();
  private ids = 0;

  constructor(schedule?: Schedule) {
    this.emitter = new Emitter(schedule);
  }

  show(panel: Panel): void {
    this.panel = panel;
    this.now("panel");
  }

  slide(drawer: Drawer): void {
    this.drawer = drawer;
    this.now("drawer");
  }

  inspect(tab: InspectorTab): void {
    this.tab = tab;
    this.now("tab");
  }

  toast(text: string, level: Toast["level"] = "info", undo?: Toast["undo"]): void {
    this.ids += 1;
    const one: Toast = { id: this.ids, text, level, ...(undo === undefined ? {} : { undo }) };
    this.toasts = [...this.toasts, one].slice(-MAX_TOASTS);
    this.emitter.touch("toasts");
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((one) => one.id !== id);
    this.emitter.touch("toasts");
  }

  /** Clears the view only: the session and its log stay as they are. 0 shows all of it again. */
  clear(session: string, upTo: number): void {
    this.cleared.set(session, upTo);
    this.now(`cleared:${session}`);
  }

  clearedTo(session: string): number {
    return this.cleared.get(session) ?? 0;
  }

  /** A key pressed right after it must already land in what is there then. */
  private now(key: string): void {
    this.emitter.touch(key);
    this.emitter.flush();
  }
}

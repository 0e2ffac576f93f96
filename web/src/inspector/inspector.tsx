import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { useApp, useKey } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import type { InspectorTab } from "../store/ui.ts";
import { Changes } from "./changes.tsx";
import { Context } from "./context.tsx";
import { Servers } from "./servers.tsx";
import { Tasks } from "./tasks.tsx";
import style from "./inspector.module.css";

const TABS: readonly { readonly id: InspectorTab; readonly label: string }[] = [
  { id: "tasks", label: "Tasks" },
  { id: "changes", label: "Changes" },
  { id: "context", label: "Context" },
  { id: "mcp", label: "MCP" },
];

/** What a session is about, beside what is said in it. */
export function Inspector({ store }: { readonly store: SessionStore }): ReactNode {
  const { ui } = useApp();
  const tab = useKey(ui.emitter, "tab", () => ui.tab);
  const bar = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = TABS.findIndex((one) => one.id === tab);
    const next = TABS[(at + step + TABS.length) % TABS.length];
    if (next === undefined) return;
    ui.inspect(next.id);
    bar.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <aside className={style.inspector} aria-label="Inspector">
      {/* the keys of a tab list are its tabs' */}
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div ref={bar} className={style.tabs} role="tablist" aria-label="Inspector" onKeyDown={move}>
        {TABS.map((one) => (
          <button
            key={one.id}
            type="button"
            role="tab"
            id={`tab-${one.id}`}
            data-tab={one.id}
            aria-selected={one.id === tab}
            aria-controls="tab-panel"
            tabIndex={one.id === tab ? 0 : -1}
            onClick={() => ui.inspect(one.id)}
          >
            {one.label}
          </button>
        ))}
      </div>
      <div
        className={style.panel}
        role="tabpanel"
        id="tab-panel"
        aria-labelledby={`tab-${tab}`}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, for the keyboard too
        tabIndex={0}
      >
        {tab === "tasks" && <Tasks store={store} />}
        {tab === "changes" && <Changes store={store} />}
        {tab === "context" && <Context store={store} />}
        {tab === "mcp" && <Servers store={store} />}
      </div>
    </aside>
  );
}

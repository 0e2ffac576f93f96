import { Tabs } from "@base-ui/react/tabs";
import type { ComponentType, ReactNode } from "react";
import { useApp, useKey } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import type { InspectorTab } from "../store/ui.ts";
import { Changes } from "./changes.tsx";
import { Context } from "./context.tsx";
import { Servers } from "./servers.tsx";
import { Tasks } from "./tasks.tsx";
import style from "./inspector.module.css";

interface Tab {
  readonly id: InspectorTab;
  readonly label: string;
  readonly Panel: ComponentType<{ readonly store: SessionStore }>;
}

const TABS: readonly Tab[] = [
  { id: "tasks", label: "Tasks", Panel: Tasks },
  { id: "changes", label: "Changes", Panel: Changes },
  { id: "context", label: "Context", Panel: Context },
  { id: "mcp", label: "MCP", Panel: Servers },
];

/** What a session is about, beside what is said in it. */
export function Inspector({ store }: { readonly store: SessionStore }): ReactNode {
  const { ui } = useApp();
  const tab = useKey(ui.emitter, "tab", () => ui.tab);
  const Panel = TABS.find((one) => one.id === tab)?.Panel;
  return (
    <aside className={style.inspector} aria-label="Inspector">
      <Tabs.Root
        className={style.whole}
        value={tab}
        onValueChange={(id: InspectorTab) => ui.inspect(id)}
      >
        <Tabs.List className={style.tabs} aria-label="Inspector" activateOnFocus>
          {TABS.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {/* one at a time, none on its way out; it scrolls, for the keyboard too */}
        <Tabs.Panel key={tab} value={tab} className={style.panel} tabIndex={0}>
          {Panel !== undefined && <Panel store={store} />}
        </Tabs.Panel>
      </Tabs.Root>
    </aside>
  );
}

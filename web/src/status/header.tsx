import { PanelRight } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { money } from "../parts/spoken.ts";
import { WIDE, useMedia } from "../parts/use-media.ts";
import { useApp, useChildren, useKey, useView } from "../parts/use-store.ts";
import { attention, titleOf } from "../store/attention.ts";
import { rowOf, rowWithView } from "../store/rows.ts";
import type { SessionStore } from "../store/session.ts";
import { lastTurnCost } from "../store/usage.ts";
import { Branch } from "./branch.tsx";
import { ContextGauge } from "./context-gauge.tsx";
import style from "./header.module.css";

/** Which session this is, where it works, and what it has used. */
export function Header({ store }: { readonly store: SessionStore }): ReactNode {
  const view = useView(store);
  if (view === undefined) {
    return (
      <header className={style.header}>
        <h1>Session</h1>
      </header>
    );
  }
  const row = rowWithView(rowOf({ session: store.session, cwd: view.cwd }), view);
  return (
    <header className={style.header}>
      <Mark state={attention(row)} />
      <h1 className={style.title}>{titleOf(row)}</h1>
      <span className={style.folder} title={view.cwd}>
        {view.cwd}
      </span>
      <Branch session={store.session} view={view} />
      <span className={style.agent}>{[view.agent, view.model].filter(Boolean).join(" · ")}</span>
      <span className={style.figures}>
        <ContextGauge store={store} />
        <Cost store={store} total={view.cost_usd} />
        <InspectorButton />
      </span>
    </header>
  );
}

/** What it has cost, and how much of that was the last turn. */
function Cost({
  store,
  total,
}: {
  readonly store: SessionStore;
  readonly total: number;
}): ReactNode {
  const ids = useChildren(store, "");
  const last = lastTurnCost(ids, (id) => store.item(id));
  if (total === 0) return null;
  return (
    <span
      className={style.cost}
      role="group" // a name needs a role
      aria-label={`Cost ${money(total)}, last turn ${money(last)}`}
    >
      {money(total)}
      {last > 0 && <span className={style.delta}> +{money(last)}</span>}
    </span>
  );
}

function InspectorButton(): ReactNode {
  const { ui, settings } = useApp();
  const wide = useMedia(WIDE);
  const beside = useKey(settings.emitter, "settings", () => settings.now.inspector);
  const drawer = useKey(ui.emitter, "drawer", () => ui.drawer);
  const open = wide ? beside : drawer === "inspector";
  return (
    <Button
      look="quiet"
      aria-label="Inspector"
      aria-pressed={open}
      icon={<PanelRight aria-hidden="true" />}
      onClick={() => (wide ? settings.set({ inspector: !beside }) : ui.slide("inspector"))}
    />
  );
}

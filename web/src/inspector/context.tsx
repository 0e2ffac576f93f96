import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { count, money } from "../parts/spoken.ts";
import { useAsked } from "../parts/use-asked.ts";
import { useApp, useKey, useView } from "../parts/use-store.ts";
import { ContextGauge } from "../status/context-gauge.tsx";
import type { SessionStore } from "../store/session.ts";
import { categoriesOf, fillOf, modelUseOf } from "../store/usage.ts";
import { fieldsOf } from "../store/values.ts";
import style from "./inspector.module.css";

/** What fills the model's memory, and what the session has cost. */
export function Context({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const view = useView(store);
  const fill = fillOf(useKey(store.emitter, "gauges", () => store.gauges));
  const live = view?.status === "idle" || view?.status === "running";
  const { value, problem, reload } = useAsked(
    () => (live ? app.query(store.session, "context") : Promise.resolve(undefined)),
    `${store.session} ${live} ${view?.turns ?? 0} ${view?.status ?? ""}`,
  );
  const categories = categoriesOf(value);
  const window = fill?.window ?? 0;
  const compact = (): void => {
    app.send(store.session, [{ type: "text", text: "/compact" }]);
  };
  return (
    <>
      <div className={style.head}>
        <h2>Context</h2>
        <span>
          <Button look="quiet" onClick={reload}>
            Look again
          </Button>
          <Button look="quiet" onClick={compact} disabled={!live}>
            Compact
          </Button>
        </span>
      </div>
      {fill === undefined ? (
        <p className={style.note}>Not known until the agent answers.</p>
      ) : (
        <ContextGauge store={store} wide />
      )}
      {categories.length > 0 && (
        <dl className={style.rows}>
          {categories.map((one) => (
            <div key={one.name} style={{ display: "contents" }}>
              <dt>{one.name}</dt>
              <dd>{count(one.tokens)}</dd>
              {window > 0 && (
                <div className={style.share} aria-hidden="true">
                  <span style={{ inlineSize: `${Math.min(100, (100 * one.tokens) / window)}%` }} />
                </div>
              )}
            </div>
          ))}
        </dl>
      )}
      {problem !== "" && categories.length === 0 && (
        <p className={style.note}>This agent does not say what fills it: {problem}</p>
      )}
      <Spent store={store} />
    </>
  );
}

function Spent({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const view = useView(store);
  const { value } = useAsked(
    () => app.panel(store.session, "cost"),
    `${store.session} ${view?.turns ?? 0} ${view?.status ?? ""}`,
  );
  const models = modelUseOf(fieldsOf(value)["model_usage"]);
  return (
    <>
      <h2 className={style.group}>Cost</h2>
      <dl className={style.rows}>
        <dt>This session</dt>
        <dd>{money(view?.cost_usd ?? 0)}</dd>
        <dt>Turns</dt>
        <dd>{view?.turns ?? 0}</dd>
        {models.map((one) => (
          <div key={one.model} style={{ display: "contents" }}>
            <dt>{one.model}</dt>
            <dd>
              {count(one.input + one.cached)} in, {count(one.output)} out
              {one.costUsd > 0 && `, ${money(one.costUsd)}`}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

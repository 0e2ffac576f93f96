import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { count, duration, money } from "../parts/spoken.ts";
import { useAsked } from "../parts/use-asked.ts";
import { useApp, useKey, useView } from "../parts/use-store.ts";
import { ContextGauge } from "../status/context-gauge.tsx";
import { reported } from "../store/context-report.ts";
import type { SessionStore } from "../store/session.ts";
import { categoriesOf, fillOf, modelUseOf } from "../store/usage.ts";
import { fieldsOf, numberOf } from "../store/values.ts";
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
  useKey(store.emitter, "shape", () => store.shape); // a report may have been printed
  const told = categoriesOf(value);
  const categories = told.length > 0 ? told : reported(store.transcript.items.values());
  const window = fill?.window ?? 0;
  const say = (text: string): void => {
    app.send(store.session, [{ type: "text", text }]);
  };
  return (
    <>
      <div className={style.head}>
        <h2>Context</h2>
        <span>
          <Button look="quiet" onClick={reload}>
            Refresh
          </Button>
          <Button
            look="quiet"
            onClick={() => say("/compact")}
            disabled={!live}
            title="Let the agent sum up what was said, to make room"
          >
            Compact
          </Button>
        </span>
      </div>
      {fill === undefined ? (
        <p className={style.note}>Known once the agent has answered.</p>
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
                  <span
                    className={style.part}
                    style={{ inlineSize: `${Math.min(100, (100 * one.tokens) / window)}%` }}
                  />
                </div>
              )}
            </div>
          ))}
        </dl>
      )}
      {problem !== "" && told.length === 0 && live && (
        <p className={style.ask}>
          {categories.length > 0
            ? "As the agent last reported it."
            : "This agent says what fills its context when it is asked."}
          <Button onClick={() => say("/context")}>Ask with /context</Button>
        </p>
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
  const told = fieldsOf(value);
  const models = modelUseOf(told["model_usage"]);
  const lastMs = numberOf(told["duration_ms"]);
  return (
    <>
      <h2 className={style.group}>Cost</h2>
      <dl className={style.rows}>
        <dt>This session</dt>
        <dd>{money(view?.cost_usd ?? 0)}</dd>
        {(view?.turns ?? 0) > 0 && (
          <>
            <dt>Last turn</dt>
            <dd>
              +{money(numberOf(told["turn_cost_usd"]))}
              {lastMs > 0 && ` · ${duration(lastMs)}`}
            </dd>
          </>
        )}
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

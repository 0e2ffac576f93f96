import type { ReactNode } from "react";
import { Zap } from "lucide-react";
import { useApp } from "../parts/use-store.ts";
import { modeName } from "../store/modes.ts";
import type { SessionStore } from "../store/session.ts";
import { Choice, type Option } from "./choice.tsx";
import style from "./controls.module.css";
import type { Agent } from "./use-agent.ts";

interface Props {
  readonly store: SessionStore;
  readonly agent: Agent;
}

/** How the agent is set: what it can be told, and only that. */
export function Controls({ store, agent }: Props): ReactNode {
  return (
    <div className={style.controls}>
      <ModeChoice store={store} agent={agent} />
      <ModelChoice store={store} agent={agent} />
      <EffortChoice store={store} agent={agent} />
      <FastSwitch store={store} agent={agent} />
    </div>
  );
}

function ModelChoice({ store, agent }: Props): ReactNode {
  const app = useApp();
  if (agent.model === "" && agent.models.length === 0) return null;
  const known = agent.models.map((one) => ({ value: one.value, label: one.name }));
  const now = agent.inUse;
  const options: Option[] =
    now === undefined ? [{ value: agent.model, label: agent.model }, ...known] : known;
  const can = agent.commands.has("set_model") && app.may("input") && known.length > 0;
  return (
    <Choice
      label="Model"
      value={now?.value ?? agent.model}
      options={options}
      disabled={!can}
      onChange={(model) => void app.attempt(store.session, { type: "set_model", model })}
    />
  );
}

function ModeChoice({ store, agent }: Props): ReactNode {
  const app = useApp();
  if (agent.mode === "" || agent.modes.length === 0) return null;
  const all = agent.modes.includes(agent.mode) ? agent.modes : [agent.mode, ...agent.modes];
  const may = app.may("admin");
  return (
    <Choice
      label="Permission mode"
      value={agent.mode}
      options={all.map((one) => ({ value: one, label: modeName(agent.known, one) }))}
      disabled={!may || !agent.commands.has("set_mode")}
      title={may ? "Permission mode" : "Permission mode: only an administrator changes it"}
      onChange={(mode) => void app.attempt(store.session, { type: "set_mode", mode })}
    />
  );
}

function EffortChoice({ store, agent }: Props): ReactNode {
  const app = useApp();
  if (!agent.commands.has("set_effort") || agent.efforts.length === 0) return null;
  const usual = agent.effort === "" ? [{ value: "", label: "Usual effort" }] : [];
  const options = [
    ...usual,
    ...agent.efforts.map((one) => ({ value: one, label: `Effort ${one}` })),
  ];
  const anew = agent.atStart.has("set_effort");
  return (
    <Choice
      label="Effort"
      value={agent.effort}
      options={options}
      disabled={!app.may("input")}
      title={anew ? "Effort: the agent starts anew with your next message" : "Effort"}
      onChange={(effort) => void app.attempt(store.session, { type: "set_effort", effort })}
    />
  );
}

function FastSwitch({ store, agent }: Props): ReactNode {
  const app = useApp();
  if (!agent.commands.has("set_fast") || agent.inUse?.fast === false) return null;
  return (
    <button
      type="button"
      className={style.fast}
      role="switch"
      aria-checked={agent.fast}
      disabled={!app.may("input")}
      title="Quicker answers for more money"
      onClick={() => void app.attempt(store.session, { type: "set_fast", on: !agent.fast })}
    >
      <Zap aria-hidden="true" />
      Fast
    </button>
  );
}

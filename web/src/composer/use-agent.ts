/** What the agent of a session is and can be told, as far as it said so. */
import { useEffect, useMemo, useState } from "react";
import { useApp, useConnection, useKey, useView } from "../parts/use-store.ts";
import { type Modes, effortsInOrder, modesOf } from "../store/modes.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, listOf, textOf, textsOf } from "../store/values.ts";
import { type Model, modelInUse, modelsOf } from "./models.ts";

export interface Agent {
  readonly commands: ReadonlySet<string>;
  /** Of those, the ones that end the agent's life: it starts anew with the next message. */
  readonly atStart: ReadonlySet<string>;
  /** It takes a message while a turn runs. */
  readonly steers: boolean;
  /** Modes that can be chosen. */
  readonly modes: readonly string[];
  /** What it publishes about these and other modes. */
  readonly known: Modes;
  readonly efforts: readonly string[];
  readonly models: readonly Model[];
  /** The one in use, if it is on the list. */
  readonly inUse: Model | undefined;
  /** Slash commands: name → local, prompt or ui. */
  readonly listed: Readonly<Record<string, string>>;
  readonly about: ReadonlyMap<string, { readonly about: string; readonly hint: string }>;
  readonly model: string;
  readonly mode: string;
  readonly effort: string;
  readonly fast: boolean;
}

export function aboutOf(value: unknown): Agent["about"] {
  return new Map(
    listOf(value)
      .map(fieldsOf)
      .map((one) => [
        textOf(one["name"]),
        { about: textOf(one["description"]), hint: textOf(one["argumentHint"]) },
      ]),
  );
}

export function useAgent(store: SessionStore): Agent {
  const view = useView(store);
  const ready = useKey(store.emitter, "ready", () => store.transcript.ready);
  const told = useKey(store.emitter, "ready", () => store.transcript.told);
  const settings = useAsked(store, "settings");
  const commands = useAsked(store, "commands");
  const models = useModels(store, settings["models"]);
  const known = useMemo(() => modesOf(settings["known_modes"]), [settings]);
  // the transcript names modes, too, and must not ask for each line that does
  useEffect(() => store.nameModes(known), [store, known]);
  return useMemo(() => {
    const asked = listOf(commands["commands"]).map(fieldsOf);
    const listed =
      ready?.commands ??
      Object.fromEntries(asked.map((one) => [textOf(one["name"]), textOf(one["category"])]));
    const inUse = modelInUse(models, view?.model ?? "");
    const efforts = inUse?.efforts ?? textsOf(settings["efforts"]);
    return {
      commands: new Set(textsOf(settings["commands"])),
      atStart: new Set(textsOf(settings["at_start"])),
      steers: settings["steers"] !== false,
      modes: textsOf(settings["modes"]),
      known,
      efforts: effortsInOrder(efforts),
      models,
      inUse,
      listed,
      about: aboutOf(told["commands"]),
      model: view?.model ?? "",
      mode: view?.mode ?? "",
      effort: view?.options.effort ?? "",
      fast: view?.options.fast ?? false,
    };
  }, [view, ready, told, settings, commands, models, known]);
}

const NOTHING: ReturnType<typeof fieldsOf> = {};

/** A part of the session's surroundings, asked for again when the agent says something new. */
function useAsked(store: SessionStore, name: "settings" | "commands"): ReturnType<typeof fieldsOf> {
  const app = useApp();
  const online = useConnection() === "online";
  const [value, setValue] = useState(NOTHING);
  useEffect(() => {
    if (!online) return undefined;
    let wanted = true;
    const ask = (): void => {
      app.panel(store.session, name).then(
        (told) => {
          if (wanted) setValue(fieldsOf(told));
        },
        () => {}, // without it, what it would offer is not offered
      );
    };
    ask();
    const forget = store.emitter.subscribe("ready", ask);
    return () => {
      wanted = false;
      forget();
    };
  }, [app, store, name, online]);
  return value;
}

/** Some agents name their models when they start, others when they are asked. */
function useModels(store: SessionStore, told: unknown): readonly Model[] {
  const app = useApp();
  const live = useKey(store.emitter, "view", () => store.view?.status ?? "off");
  const [asked, setAsked] = useState<readonly Model[]>([]);
  const known = useMemo(() => modelsOf(told), [told]);
  const ask = known.length === 0 && live === "idle" && asked.length === 0;
  useEffect(() => {
    if (!ask) return;
    app.ask("agent_info", { session: store.session, name: "models" }).then(
      (value) => setAsked(modelsOf(fieldsOf(value)["models"])),
      () => {},
    );
  }, [app, store, ask]);
  return known.length > 0 ? known : asked;
}

import { type ReactNode, useId } from "react";
import { useAgent } from "../composer/use-agent.ts";
import { Button } from "../parts/button.tsx";
import { Modal } from "../parts/modal.tsx";
import { useApp, useSettings } from "../parts/use-store.ts";
import { useRoute } from "../routes.ts";
import type { SessionStore } from "../store/session.ts";
import type { Settings } from "../store/settings.ts";
import style from "./panels.module.css";

/** What holds for this session, and what holds for this browser. */
export function SettingsPanel(): ReactNode {
  const app = useApp();
  const route = useRoute();
  return (
    <Modal title="Settings" onClose={() => app.ui.show("")}>
      {route.view === "session" && <OfSession store={app.session(route.session)} />}
      <OfBrowser />
      <p>
        <Button onClick={() => app.ui.show("keys")}>Keys</Button>
      </p>
    </Modal>
  );
}

function OfSession({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const agent = useAgent(store);
  const { session } = store;
  const models = agent.models.map((one) => [one.value, one.name] as const);
  const model = agent.models.find(
    (one) => one.value === agent.model || one.resolved === agent.model,
  );
  return (
    <section>
      <h3 className={style.group}>This session</h3>
      <ul>
        {agent.commands.has("set_model") && (
          <Choice
            label="Model"
            about={agent.model}
            value={model?.value ?? agent.model}
            options={model === undefined ? [[agent.model, agent.model], ...models] : models}
            onChange={(value) => void app.attempt(session, { type: "set_model", model: value })}
          />
        )}
        {agent.modes.length > 0 && (
          <Choice
            label="Permission mode"
            about="What the agent may do without asking"
            value={agent.mode}
            options={named(agent.modes)}
            onChange={(value) => void app.attempt(session, { type: "set_mode", mode: value })}
          />
        )}
        {agent.efforts.length > 0 && (
          <Choice
            label="Effort"
            about={agent.atStart.has("set_effort") ? "From the agent's next start on" : ""}
            value={agent.effort}
            options={[["", "as usual"], ...named(agent.efforts)]}
            onChange={(value) => void app.attempt(session, { type: "set_effort", effort: value })}
          />
        )}
        {(agent.commands.has("set_fast") || agent.atStart.has("fast")) && (
          <Switch
            label="Fast mode"
            about="Quicker answers for more money"
            on={agent.fast}
            onChange={(on) => void app.attempt(session, { type: "set_fast", on })}
          />
        )}
      </ul>
    </section>
  );
}

function OfBrowser(): ReactNode {
  const { settings } = useApp();
  const now = useSettings();
  const set = (change: Partial<Settings>): void => settings.set(change);
  return (
    <section>
      <h3 className={style.group}>This browser</h3>
      <ul>
        <Choice
          label="Theme"
          value={now.theme}
          options={[
            ["system", "as the system"],
            ["dark", "dark"],
            ["light", "light"],
          ]}
          onChange={(theme) => set({ theme: theme as Settings["theme"] })}
        />
        <Switch
          label="High contrast"
          on={now.contrast === "more"}
          onChange={(on) => set({ contrast: on ? "more" : "normal" })}
        />
        <Switch
          label="Compact rows"
          on={now.density === "compact"}
          onChange={(on) => set({ density: on ? "compact" : "normal" })}
        />
        <Choice
          label="A new answer"
          value={now.follow}
          options={[
            ["bottom", "keeps its end in sight"],
            ["top", "stays where it begins"],
          ]}
          onChange={(follow) => set({ follow: follow as Settings["follow"] })}
        />
        <Choice
          label="Differences"
          value={now.diff}
          options={[
            ["unified", "below each other"],
            ["split", "side by side"],
          ]}
          onChange={(diff) => set({ diff: diff as Settings["diff"] })}
        />
        <Switch
          label="Thoughts"
          about="Open while they stream"
          on={now.thinking}
          onChange={(thinking) => set({ thinking })}
        />
        <Switch
          label="Notifications"
          about="When a session needs you and you look elsewhere"
          on={now.notifications}
          onChange={(on) => void allowed(on).then((notifications) => set({ notifications }))}
        />
        <Switch
          label="Sound"
          about="With each notification"
          on={now.sound}
          onChange={(sound) => set({ sound })}
        />
      </ul>
    </section>
  );
}

interface RowProps {
  readonly label: string;
  readonly about?: string;
}

function Choice({
  label,
  about = "",
  value,
  options,
  onChange,
}: RowProps & {
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}): ReactNode {
  const id = useId();
  return (
    <li className={style.row}>
      <label htmlFor={id}>
        {label}
        {about !== "" && <span className={style.about}>{about}</span>}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </li>
  );
}

function Switch({
  label,
  about = "",
  on,
  onChange,
}: RowProps & { readonly on: boolean; readonly onChange: (on: boolean) => void }): ReactNode {
  const id = useId();
  return (
    <li className={style.row}>
      <label htmlFor={id}>
        {label}
        {about !== "" && <span className={style.about}>{about}</span>}
      </label>
      <input
        id={id}
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
      />
    </li>
  );
}

function named(all: readonly string[]): readonly (readonly [string, string])[] {
  return all.map((one) => [one, one] as const);
}

async function allowed(wanted: boolean): Promise<boolean> {
  if (!wanted || !("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}

import { type ReactNode, useId } from "react";
import { type Agent, useAgent } from "../composer/use-agent.ts";
import { Button } from "../parts/button.tsx";
import { Modal } from "../parts/modal.tsx";
import { useAsked } from "../parts/use-asked.ts";
import { useApp, useSettings } from "../parts/use-store.ts";
import { navigate, useRoute } from "../routes.ts";
import { modeAbout, modeName } from "../store/modes.ts";
import type { SessionStore } from "../store/session.ts";
import type { Settings } from "../store/settings.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import style from "./panels.module.css";

/** What holds for this session, and what holds for this browser. */
export function SettingsPanel(): ReactNode {
  const app = useApp();
  const route = useRoute();
  const leave = (view: "access" | "devices"): void => {
    app.ui.show("");
    navigate({ view });
  };
  return (
    <Modal title="Settings" onClose={() => app.ui.show("")}>
      {route.view === "session" && <OfSession store={app.session(route.session)} />}
      <OfBrowser />
      <p className={style.buttons}>
        <Button onClick={() => app.ui.show("keys")}>Keys</Button>
        <Button onClick={() => leave("access")}>Logins and tokens</Button>
        <Button onClick={() => leave("devices")}>Devices</Button>
      </p>
    </Modal>
  );
}

function OfSession({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const agent = useAgent(store);
  const { session } = store;
  const models = agent.models.map((one) => [one.value, one.name] as const);
  const model = agent.inUse;
  const { value: told } = useAsked(() => app.panel(session, "settings"), session);
  const outputStyle = textOf(fieldsOf(told)["output_style"]);
  return (
    <section>
      <h3 className={style.group}>This session</h3>
      <ul>
        {agent.commands.has("set_model") && (
          <Choice
            label="Model"
            about={model?.about || agent.model}
            value={model?.value ?? agent.model}
            options={model === undefined ? [[agent.model, agent.model], ...models] : models}
            onChange={(value) => void app.attempt(session, { type: "set_model", model: value })}
          />
        )}
        {agent.modes.length > 0 && (
          <Choice
            label="Permission mode"
            disabled={!app.may("admin")}
            about={
              app.may("admin")
                ? modeAbout(agent.known, agent.mode)
                : "Only an administrator changes it"
            }
            value={agent.mode}
            options={agent.modes.map((one) => [one, modeName(agent.known, one)] as const)}
            onChange={(value) => void app.attempt(session, { type: "set_mode", mode: value })}
          />
        )}
        {agent.efforts.length > 0 && (
          <Choice
            label="Effort"
            about={
              agent.atStart.has("set_effort")
                ? "How hard it thinks, from your next message on"
                : "How hard it thinks"
            }
            value={agent.effort}
            options={[["", "usual"], ...agent.efforts.map((one) => [one, one] as const)]}
            onChange={(value) => void app.attempt(session, { type: "set_effort", effort: value })}
          />
        )}
        {agent.commands.size > 0 && (
          <Switch
            label="Fast mode"
            about={fastAbout(agent)}
            on={agent.fast}
            disabled={!agent.fast && !canFast(agent)}
            onChange={(on) => void app.attempt(session, { type: "set_fast", on })}
          />
        )}
        {outputStyle !== "" && (
          <li className={style.row}>
            <span>
              Output style
              <span className={style.about}>How it words its answers; chosen when it starts</span>
            </span>
            <span>{outputStyle}</span>
          </li>
        )}
      </ul>
    </section>
  );
}

function canFast(agent: Agent): boolean {
  const has = agent.commands.has("set_fast") || agent.atStart.has("fast");
  return has && agent.inUse?.fast !== false;
}

function fastAbout(agent: Agent): string {
  if (canFast(agent)) return "Quicker answers for more money";
  return agent.commands.has("set_fast")
    ? "Not with this model: choose another one"
    : "This agent has none: choose a quicker model";
}

function OfBrowser(): ReactNode {
  const { settings, ui } = useApp();
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
            ["system", "system"],
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
          label="While an answer comes in"
          value={now.follow}
          options={[
            ["bottom", "follow its end"],
            ["top", "stay at its start"],
          ]}
          onChange={(follow) => set({ follow: follow as Settings["follow"] })}
        />
        <Choice
          label="Diffs"
          value={now.diff}
          options={[
            ["unified", "one column"],
            ["split", "side by side"],
          ]}
          onChange={(diff) => set({ diff: diff as Settings["diff"] })}
        />
        <Switch
          label="Thinking"
          about="Shown while it streams, folded when it is over"
          on={now.thinking}
          onChange={(thinking) => set({ thinking })}
        />
        <Switch
          label="Notifications"
          about="When a session needs you and this page is not in front"
          on={now.notifications}
          onChange={(on) => {
            void allowed(on).then((notifications) => {
              set({ notifications });
              if (on && !notifications) ui.toast(NOT_ALLOWED, "error");
            });
          }}
        />
        <Switch
          label="Sound"
          about="Played with each notification"
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

/** What it is called, and below it what it means: heard after the name, not as a part of it. */
function Label({ id, label, about }: Required<RowProps> & { readonly id: string }): ReactNode {
  return (
    <span>
      <label htmlFor={id}>{label}</label>
      <span id={`${id}about`} className={style.about}>
        {about}
      </span>
    </span>
  );
}

function Choice({
  label,
  about = "",
  value,
  options,
  disabled = false,
  onChange,
}: RowProps & {
  readonly value: string;
  readonly disabled?: boolean;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}): ReactNode {
  const id = useId();
  return (
    <li className={style.row}>
      <Label id={id} label={label} about={about} />
      <select
        id={id}
        aria-describedby={`${id}about`}
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value)}
      >
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
  disabled = false,
  onChange,
}: RowProps & {
  readonly on: boolean;
  readonly disabled?: boolean;
  readonly onChange: (on: boolean) => void;
}): ReactNode {
  const id = useId();
  return (
    <li className={style.row}>
      <Label id={id} label={label} about={about} />
      {/* it only makes more room for a finger: the name is the other one's */}
      {/* oxlint-disable-next-line jsx-a11y/label-has-associated-control */}
      <label className={style.hit}>
        <input
          id={id}
          aria-describedby={`${id}about`}
          type="checkbox"
          checked={on}
          disabled={disabled}
          onChange={(event) => onChange(event.target.checked)}
        />
      </label>
    </li>
  );
}

const NOT_ALLOWED =
  "The browser does not let this page notify you. Allow it in its settings for this site, and use https or localhost.";

async function allowed(wanted: boolean): Promise<boolean> {
  if (!wanted || !("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}

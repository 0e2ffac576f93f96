import type { ReactNode } from "react";
import { aboutOf } from "../composer/use-agent.ts";
import { keysOf } from "../keys/actions.ts";
import { spoken } from "../keys/chord.ts";
import { MAC } from "../keys/mac.ts";
import { Button } from "../parts/button.tsx";
import { Disclosure } from "../parts/disclosure.tsx";
import { Modal } from "../parts/modal.tsx";
import { useAsked } from "../parts/use-asked.ts";
import { useApp, useSettings } from "../parts/use-store.ts";
import { useRoute } from "../routes.ts";
import { fieldsOf, listOf, textOf } from "../store/values.ts";
import { labelOf, mcpName } from "../tools/names.ts";
import style from "./panels.module.css";

/** What the agent of this session can do, and how this page is used. */
export function Help(): ReactNode {
  const { ui } = useApp();
  const { keys } = useSettings();
  const route = useRoute();
  return (
    <Modal title="Help" onClose={() => ui.show("")}>
      <p>
        Write to an agent as you would to a colleague. Type <kbd>/</kbd> for its commands,{" "}
        <kbd>@</kbd> for a file. What it must ask you for shows in amber, here and in the list of
        sessions. Escape interrupts it. {spoken(keysOf("palette", keys), MAC)} finds everything
        else.
      </p>
      <p className={style.buttons}>
        <Button onClick={() => ui.show("keys")}>Keys</Button>
        <Button onClick={() => ui.show("settings")}>Settings</Button>
      </p>
      {route.view === "session" && <OfAgent session={route.session} />}
    </Modal>
  );
}

function OfAgent({ session }: { readonly session: string }): ReactNode {
  const app = useApp();
  const { value, problem } = useAsked(() => app.panel(session, "help"), session);
  const told = fieldsOf(value);
  const commands = listOf(told["commands"]).map((one) => textOf(fieldsOf(one)["name"]));
  const about = aboutOf(app.session(session).transcript.told["commands"]);
  if (problem !== "") return <p className={style.problem}>{problem}</p>;
  if (value === undefined) return <p className={style.note}>Asking the agent.</p>;
  return (
    <>
      <h3 className={style.group}>
        {textOf(told["agent"])} {textOf(told["version"])}
      </h3>
      {commands.length > 0 && <Commands names={commands} about={about} />}
      <List name="Tools" items={namesOf(told["tools"]).map(toolName)} />
      <List name="Skills" items={namesOf(told["skills"])} />
      <List name="Agents" items={namesOf(told["agents"])} />
      <List name="Plugins" items={namesOf(told["plugins"])} />
      {commands.length === 0 && (
        <p className={style.note}>
          The agent says what it can do once it has started: send it a message.
        </p>
      )}
    </>
  );
}

const ABOUT_CHARS = 160; // some describe themselves at length, for a model to read

function Commands({
  names,
  about,
}: {
  readonly names: readonly string[];
  readonly about: ReturnType<typeof aboutOf>;
}): ReactNode {
  return (
    <Disclosure id="help:Commands" title={`Commands (${names.length})`}>
      <dl className={style.told}>
        {names.map((name) => {
          const told = about.get(name);
          return (
            <div key={name}>
              <dt>{`/${name} ${told?.hint ?? ""}`.trim()}</dt>
              {told !== undefined && <dd>{clipped(told.about, ABOUT_CHARS)}</dd>}
            </div>
          );
        })}
      </dl>
    </Disclosure>
  );
}

function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).trimEnd()}…`;
}

function List({
  name,
  items,
}: {
  readonly name: string;
  readonly items: readonly string[];
}): ReactNode {
  if (items.length === 0) return null;
  return (
    <Disclosure id={`help:${name}`} title={`${name} (${items.length})`}>
      <ul className={style.columns}>
        {items.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Disclosure>
  );
}

function namesOf(value: unknown): readonly string[] {
  return listOf(value).map((one) =>
    typeof one === "string" ? one : textOf(fieldsOf(one)["name"]),
  );
}

function toolName(name: string): string {
  return mcpName(name) === undefined ? name : labelOf(name);
}

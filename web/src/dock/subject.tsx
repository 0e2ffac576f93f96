import type { ReactNode } from "react";
import { DiffView } from "../diff/diff-view.tsx";
import { Disclosure } from "../parts/disclosure.tsx";
import { useSettings } from "../parts/use-store.ts";
import type { Json, Prompt } from "../store/items.ts";
import { isCut, kindOf } from "../store/tool-kinds.ts";
import { type Fields, fieldsOf, textOf } from "../store/values.ts";
import { Prose } from "../text/prose.tsx";
import style from "./dock.module.css";
import { exact } from "./exact.ts";
import { describedIn, previewIn, strangeIn } from "./long-subject.ts";
import { isPlan } from "./titles.ts";

const ALL = Number.POSITIVE_INFINITY; // nothing that is decided about is folded away

/** What is asked about, all of it: why, where, and the exact command, change or plan. */
export function Subject({ prompt }: { readonly prompt: Prompt }): ReactNode {
  const input = fieldsOf(prompt.input);
  const detail = fieldsOf(prompt.detail);
  const blocked = textOf(detail["blocked_path"]);
  const strange = strangeIn(prompt);
  return (
    <>
      {prompt.reason !== "" && <p className={style.reason}>{exact(prompt.reason)}</p>}
      {blocked !== "" && (
        <p className={style.fact}>
          Blocked path <code>{exact(blocked)}</code>
        </p>
      )}
      {strange.length > 0 && (
        <p className={style.warning}>
          Letters of several alphabets in one word: <code>{strange.join(", ")}</code>. It may not be
          what it looks like.
        </p>
      )}
      <What prompt={prompt} input={input} />
    </>
  );
}

function What({ prompt, input }: { readonly prompt: Prompt; readonly input: Fields }): ReactNode {
  const { diff } = useSettings();
  const preview = previewIn(prompt);
  if (isPlan(prompt)) {
    return (
      <>
        {("plan" in input || Object.keys(input).length === 0) && (
          <div className={style.plan}>
            <Prose text={exact(textOf(input["plan"])) || "The plan is empty."} headingBase={3} />
          </div>
        )}
        <InputFields input={without(input, ["plan"])} />
      </>
    );
  }
  const command = commandIn(prompt, input);
  if (command !== null) {
    const told = textOf(input["description"]);
    const above = told === "" ? [command.field] : [command.field, "description"];
    return (
      <>
        {told !== "" && <p className={style.fact}>It says: {exact(told)}</p>}
        <pre className={style.command}>{exact(command.text)}</pre>
        <InputFields input={without(input, above)} />
      </>
    );
  }
  if (preview !== null) {
    return (
      <>
        <DiffView
          path={preview.path}
          hunks={preview.hunks}
          mode={diff}
          numbered={preview.numbered}
          note={preview.note}
          fold={ALL}
        />
        <Disclosure id={`input:${prompt.id}`} title="Whole input">
          <InputFields input={input} />
        </Disclosure>
      </>
    );
  }
  const described = describedIn(prompt);
  return (
    <>
      {described !== null && (
        <DiffView
          path={described.path}
          hunks={described.hunks}
          mode={diff}
          numbered={described.numbered}
          note={described.note}
          fold={ALL}
        />
      )}
      <InputFields input={input} empty="It takes no input." />
    </>
  );
}

interface Command {
  /** The field of the input that holds it; "": none does, and all of the input is shown below. */
  readonly field: string;
  readonly text: string;
}

/** The whole command of a call that runs one, wherever the agent has put it; null: it runs none. */
function commandIn(prompt: Prompt, input: Fields): Command | null {
  if (kindOf(prompt.toolKind, prompt.tool) !== "execute") return null;
  const about = prompt.subject.command;
  const head = isCut(about) ? about.slice(0, -" …".length) : "";
  const holds = (value: Json): value is string =>
    typeof value === "string" && (value === about || (head !== "" && value.startsWith(head)));
  const named = Object.entries(input).find(([, value]) => about !== "" && holds(value));
  if (named !== undefined) return { field: named[0], text: textOf(named[1]) };
  if (typeof input["command"] === "string") return { field: "command", text: input["command"] };
  return about === "" || head !== "" ? null : { field: "", text: about };
}

function without(input: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
}

/** Every field, to its last character. */
function InputFields({
  input,
  empty = "",
}: {
  readonly input: Fields;
  readonly empty?: string;
}): ReactNode {
  const all = Object.entries(input);
  if (all.length === 0) return empty === "" ? null : <p className={style.fact}>{empty}</p>;
  return (
    <dl className={style.fields}>
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{exact(name)}</dt>
          <dd>{exact(shown(value))}</dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

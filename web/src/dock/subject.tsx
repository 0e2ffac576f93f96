import type { ReactNode } from "react";
import { DiffView } from "../diff/diff-view.tsx";
import { Disclosure } from "../parts/disclosure.tsx";
import { useSettings } from "../parts/use-store.ts";
import type { Json, Prompt } from "../store/items.ts";
import { type Fields, fieldsOf, textOf } from "../store/values.ts";
import { Prose } from "../text/prose.tsx";
import style from "./dock.module.css";
import { exact } from "./exact.ts";
import { previewIn, strangeIn } from "./long-subject.ts";
import { isPlan } from "./titles.ts";

const COMMANDS = new Set(["Bash", "PowerShell"]);
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
        <div className={style.plan}>
          <Prose text={exact(textOf(input["plan"])) || "The plan is empty."} headingBase={3} />
        </div>
        <InputFields input={without(input, ["plan"])} />
      </>
    );
  }
  if (COMMANDS.has(prompt.tool) && typeof input["command"] === "string") {
    const told = textOf(input["description"]);
    const above = told === "" ? ["command"] : ["command", "description"];
    return (
      <>
        {told !== "" && <p className={style.fact}>It says: {exact(told)}</p>}
        <pre className={style.command}>{exact(input["command"])}</pre>
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
  return <InputFields input={input} empty="It takes no input." />;
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

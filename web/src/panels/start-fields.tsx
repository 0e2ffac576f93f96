import { type ReactNode, useEffect, useId, useState } from "react";
import { type Conversation, conversations, nameOf } from "../history/conversations.ts";
import type { Draft, Field } from "./start-form.ts";
import style from "./new-session.module.css";

interface Props {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}

const BEGINNINGS: readonly (readonly [Draft["start"], string])[] = [
  ["new", "A new conversation"],
  ["continue", "The latest conversation in this folder"],
  ["resume", "An earlier conversation"],
  ["pr", "The conversation of a pull request"],
];

/** What it begins with: nothing, or something that was said before. */
export function Beginning({
  draft,
  set,
  resumes,
  history,
}: Props & {
  readonly resumes: boolean;
  /** The kind whose past conversations are offered; "": the agent has no history. */
  readonly history: string;
}): ReactNode {
  const ids = useId();
  const known = useConversations(history, draft.start === "resume" ? draft.cwd.trim() : "");
  return (
    <>
      <label htmlFor={`${ids}start`}>Start with</label>
      <div className={style.stack}>
        <select
          id={`${ids}start`}
          value={draft.start}
          onChange={(event) => set({ start: event.target.value as Draft["start"] })}
        >
          {BEGINNINGS.map(([value, words]) => (
            <option key={value} value={value} disabled={value !== "new" && !resumes}>
              {words}
            </option>
          ))}
        </select>
        {draft.start === "resume" && (
          <>
            <input
              aria-label="Conversation"
              list={`${ids}known`}
              value={draft.resume}
              placeholder="Choose one, or paste its id"
              spellCheck={false}
              onChange={(event) => set({ resume: event.target.value })}
            />
            <datalist id={`${ids}known`}>
              {known.map((one) => (
                <option key={one.id} value={one.id}>
                  {nameOf(one)}
                </option>
              ))}
            </datalist>
          </>
        )}
        {draft.start === "pr" && (
          <input
            aria-label="Pull request"
            value={draft.pr}
            placeholder="Its number or address"
            onChange={(event) => set({ pr: event.target.value })}
          />
        )}
        {draft.start !== "new" && (
          <label className={style.flag}>
            <input
              type="checkbox"
              checked={draft.fork}
              onChange={(event) => set({ fork: event.target.checked })}
            />
            Fork it: work on a copy, and leave the conversation as it is
          </label>
        )}
      </div>
    </>
  );
}

function useConversations(kind: string, cwd: string): readonly Conversation[] {
  const [known, setKnown] = useState<readonly Conversation[]>([]);
  useEffect(() => {
    setKnown([]); // those of another agent cannot be resumed
    if (kind === "" || cwd === "") return undefined;
    let over = false;
    conversations(kind, 0, cwd).then(
      (found) => {
        if (!over) setKnown(found.conversations);
      },
      () => {}, // an id can be typed in as well
    );
    return () => {
      over = true;
    };
  }, [kind, cwd]);
  return known;
}

interface MoreProps extends Props {
  readonly admin: boolean;
  readonly fields: readonly Field[];
}

/** Shows what else an agent can be started with, as the agent publishes it. */
export function MoreFields({ draft, set, admin, fields }: MoreProps): ReactNode {
  const change = (name: string, value: string | boolean): void =>
    set({ more: { ...draft.more, [name]: value } });
  return (
    <div className={style.more}>
      {fields.map((field) => (
        <One
          key={field.name}
          field={field}
          value={draft.more[field.name]}
          disabled={field.admin && !admin}
          change={change}
        />
      ))}
    </div>
  );
}

interface OneProps {
  readonly field: Field;
  readonly value: string | boolean | undefined;
  readonly disabled: boolean;
  readonly change: (name: string, value: string | boolean) => void;
}

function One({ field, value, disabled, change }: OneProps): ReactNode {
  const id = useId();
  if (field.kind === "flag") {
    return (
      <label className={style.flag} title={field.about}>
        <input
          type="checkbox"
          checked={value === true}
          disabled={disabled}
          onChange={(event) => change(field.name, event.target.checked)}
        />
        {field.label}
      </label>
    );
  }
  const shared = {
    id,
    disabled,
    value: typeof value === "string" ? value : "",
    placeholder: field.hint,
    title: field.about,
    spellCheck: false,
  };
  if (field.kind === "select") {
    return (
      <div className={style.stack}>
        <label htmlFor={id}>{field.label}</label>
        <select
          id={id}
          disabled={disabled}
          title={field.about}
          value={typeof value === "string" ? value : ""}
          onChange={(event) => change(field.name, event.target.value)}
        >
          <option value="">The agent's usual one</option>
          {field.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </div>
    );
  }
  const numeric = field.kind === "count" || field.kind === "amount";
  return (
    <div className={style.stack}>
      <label htmlFor={id}>{field.label}</label>
      {field.kind === "lines" || field.kind === "area" ? (
        <textarea
          {...shared}
          rows={2}
          onChange={(event) => change(field.name, event.target.value)}
        />
      ) : (
        <input
          {...shared}
          inputMode={numeric ? "decimal" : "text"}
          onChange={(event) => change(field.name, event.target.value)}
        />
      )}
    </div>
  );
}

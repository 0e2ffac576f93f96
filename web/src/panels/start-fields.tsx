import { type ReactNode, useEffect, useId, useState } from "react";
import { type Conversation, conversations, nameOf } from "../history/conversations.ts";
import { type Draft, FIELDS, type Field } from "./start-form.ts";
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
}: Props & { readonly resumes: boolean }): ReactNode {
  const ids = useId();
  const known = useConversations(draft.start === "resume" ? draft.cwd.trim() : "");
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

function useConversations(cwd: string): readonly Conversation[] {
  const [known, setKnown] = useState<readonly Conversation[]>([]);
  useEffect(() => {
    if (cwd === "") return;
    let over = false;
    conversations(0, cwd).then(
      (found) => {
        if (!over) setKnown(found);
      },
      () => {}, // an id can be typed in as well
    );
    return () => {
      over = true;
    };
  }, [cwd]);
  return known;
}

/** Everything else an agent can be started with. */
export function MoreFields({ draft, set, admin }: Props & { readonly admin: boolean }): ReactNode {
  const change = (name: string, value: string | boolean): void =>
    set({ more: { ...draft.more, [name]: value } });
  return (
    <div className={style.more}>
      {FIELDS.map((field) => (
        <One
          key={field.name}
          field={field}
          value={draft.more[field.name]}
          disabled={field.admin === true && !admin}
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
      <label className={style.flag}>
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
    spellCheck: false,
  };
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

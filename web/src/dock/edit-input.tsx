import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import type { Json } from "../store/items.ts";
import type { Fields } from "../store/values.ts";
import style from "./dock.module.css";
import { type EditField, fieldsIn, fromFields, fromJson, isSame } from "./edited.ts";

interface Props {
  readonly input: Json;
  readonly off: boolean;
  /** undefined: nothing was changed after all. */
  readonly onAllow: (input: Fields | undefined) => void;
  readonly onBack: () => void;
}

/** Another input for the tool. It is checked here, and marked as changed in the transcript. */
export function EditInput({ input, off, onAllow, onBack }: Props): ReactNode {
  const [fields, setFields] = useState(() => fieldsIn(input));
  const [json, setJson] = useState<string>();
  const first = useRef<HTMLTextAreaElement>(null);
  useEffect(() => first.current?.focus(), []);
  const checked = json === undefined ? fromFields(fields) : fromJson(json);
  const toJson = (): void => {
    setJson(JSON.stringify(fromFields(fields).input ?? input, null, 2));
  };
  return (
    <form
      className={style.form}
      aria-label="Change the input"
      onSubmit={(event) => {
        event.preventDefault();
        if (off || checked.input === undefined) return;
        onAllow(isSame(checked.input, input) ? undefined : checked.input);
      }}
    >
      <div className={style.inputs}>
        {json === undefined ? (
          fields.map((one, at) => (
            <OneField
              key={one.name}
              one={one}
              first={at === 0 ? first : undefined}
              onChange={(text) =>
                setFields(fields.map((had) => (had === one ? { ...one, text } : had)))
              }
            />
          ))
        ) : (
          <label className={style.input}>
            <span>Input as JSON</span>
            <textarea
              ref={first}
              className={style.code}
              rows={8}
              spellCheck={false}
              value={json}
              onChange={(event) => setJson(event.target.value)}
            />
          </label>
        )}
      </div>
      {checked.problem !== "" && (
        <p className={style.problem} role="alert">
          {checked.problem}
        </p>
      )}
      <div className={style.actions}>
        <Button type="submit" look="main" aria-disabled={off || checked.input === undefined}>
          Allow as changed
        </Button>
        {json === undefined && (
          <Button look="quiet" onClick={toJson}>
            As JSON
          </Button>
        )}
        <span className={style.gap} />
        <Button className={style.deny} onClick={onBack}>
          Back
        </Button>
      </div>
    </form>
  );
}

function OneField({
  one,
  first,
  onChange,
}: {
  readonly one: EditField;
  readonly first: RefObject<HTMLTextAreaElement | null> | undefined;
  readonly onChange: (text: string) => void;
}): ReactNode {
  return (
    <label className={style.input}>
      <span>{one.name}</span>
      <textarea
        ref={first}
        className={style.code}
        rows={Math.min(10, one.text.split("\n").length)}
        spellCheck={false}
        value={one.text}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

import { type FormEvent, type ReactNode, useState } from "react";
import { wordsOf } from "../link/errors.ts";
import { Button } from "../parts/button.tsx";
import { useApp } from "../parts/use-store.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import { RIGHTS } from "./list.ts";
import style from "../access/access.module.css";

interface Props {
  readonly slots: number;
  readonly onPaired: () => void;
}

/** Lets a device in: by the code on its screen, or with a token for one that can say it. */
export function Pairing({ slots, onPaired }: Props): ReactNode {
  const app = useApp();
  const [name, setName] = useState("");
  const [code, setCode] = useState("");
  const [rights, setRights] = useState<readonly string[]>(["view"]);
  const [only, setOnly] = useState<readonly number[]>([]);
  const [told, setTold] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = { name: name.trim(), rights, slots: only };
    const asked =
      code.trim() === ""
        ? app.ask("devices.token", wanted)
        : app.ask("devices.pair", { ...wanted, code: code.trim() });
    asked.then(
      (value) => {
        const token = textOf(fieldsOf(value)["token"]);
        setTold(
          token === ""
            ? `${wanted.name} is paired.`
            : `Copy its token now, it is shown this once: ${token}`,
        );
        setName("");
        setCode("");
        onPaired();
      },
      (error: unknown) => setTold(wordsOf(error)),
    );
  };
  return (
    <form className={style.form} onSubmit={submit}>
      <label>
        Name
        <input value={name} maxLength={40} onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        Code on its screen
        <input
          value={code}
          maxLength={64}
          placeholder="None: create a token"
          onChange={(event) => setCode(event.target.value)}
        />
      </label>
      <fieldset className={style.set}>
        <legend>It may</legend>
        {RIGHTS.map(([right, words]) => (
          <label key={right} className={style.check}>
            <input
              type="checkbox"
              checked={rights.includes(right)}
              onChange={(event) => setRights(toggled(rights, right, event.target.checked))}
            />
            {words}
          </label>
        ))}
      </fieldset>
      {slots > 1 && (
        <fieldset className={style.set}>
          <legend>In which slots (none ticked: all)</legend>
          {Array.from({ length: slots }, (_, slot) => (
            <label key={slot} className={style.check}>
              <input
                type="checkbox"
                checked={only.includes(slot)}
                onChange={(event) => setOnly(toggled(only, slot, event.target.checked))}
              />
              {slot}
            </label>
          ))}
        </fieldset>
      )}
      <Button type="submit" disabled={name.trim() === ""}>
        {code.trim() === "" ? "Create token" : "Pair"}
      </Button>
      {told !== "" && (
        <p role="status" className={style.secret}>
          {told}
        </p>
      )}
    </form>
  );
}

function toggled<T>(all: readonly T[], one: T, on: boolean): readonly T[] {
  const others = all.filter((each) => each !== one);
  return on ? [...others, one] : others;
}

import { type FormEvent, type ReactNode, useState } from "react";
import { wordsOf } from "../link/errors.ts";
import { Button } from "../parts/button.tsx";
import { Link } from "../parts/link.tsx";
import { useApp } from "../parts/use-store.ts";
import type { Slot } from "./list.ts";
import style from "../access/access.module.css";

interface Props {
  readonly slots: readonly Slot[];
  readonly onChanged: () => void;
}

/** What is started in each slot, and what is in it now. */
export function Slots({ slots, onChanged }: Props): ReactNode {
  return (
    <section className={style.section}>
      <h2>Slots</h2>
      <p className={style.note}>
        A device shows this many sessions at once. Here you choose what a slot starts.
      </p>
      <ul className={style.list}>
        {slots.map((one) => (
          <li key={one.slot}>
            <OneSlot slot={one} all={slots} onChanged={onChanged} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneSlot({
  slot,
  all,
  onChanged,
}: {
  readonly slot: Slot;
  readonly all: readonly Slot[];
  readonly onChanged: () => void;
}): ReactNode {
  const app = useApp();
  const [agent, setAgent] = useState(slot.agent);
  const [dir, setDir] = useState(slot.dir);
  const changed = agent !== slot.agent || dir !== slot.dir;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const slots = all.map((one) => ({
      agent: one.slot === slot.slot ? agent.trim() : one.agent,
      dir: one.slot === slot.slot ? dir.trim() : one.dir,
      mode: one.mode,
    }));
    app.ask("slots.set", { slots }).then(onChanged, (error: unknown) => {
      app.ui.toast(wordsOf(error), "error");
    });
  };
  return (
    <form className={style.form} onSubmit={submit}>
      <span>
        <strong>Slot {slot.slot}</strong>
        <span className={style.about}>
          {slot.session === "" ? (
            "free"
          ) : (
            <>
              <Link to={{ view: "session", session: slot.session }}>{slot.name}</Link> ·{" "}
              {slot.state}
              {slot.autoEdit && " · edits pass without asking"}
            </>
          )}
        </span>
      </span>
      <label>
        Agent
        <input
          aria-label={`Agent of slot ${slot.slot}`}
          value={agent}
          maxLength={100}
          placeholder="Default agent"
          onChange={(event) => setAgent(event.target.value)}
        />
      </label>
      <label>
        Folder
        <input
          aria-label={`Folder of slot ${slot.slot}`}
          value={dir}
          maxLength={4096}
          placeholder="Default folder"
          onChange={(event) => setDir(event.target.value)}
        />
      </label>
      <Button type="submit" aria-label={`Save slot ${slot.slot}`} disabled={!changed}>
        Save
      </Button>
    </form>
  );
}

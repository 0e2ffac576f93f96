import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from "react";
import { ranked } from "../composer/fuzzy.ts";
import { ACTIONS, keysOf } from "../keys/actions.ts";
import { spoken } from "../keys/chord.ts";
import { MAC } from "../keys/mac.ts";
import { Modal } from "../parts/modal.tsx";
import { useApp, useRows, useSettings } from "../parts/use-store.ts";
import { navigate, useRoute } from "../routes.ts";
import { byAttention, doing, titleOf } from "../store/attention.ts";
import { runAction } from "./run-action.ts";
import style from "./palette.module.css";

interface Choice {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly run: () => void;
}

const MOST = 50;

/** Everything that can be done or gone to, by a few letters of its name. */
export function Palette(): ReactNode {
  const { ui } = useApp();
  const [letters, setLetters] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const choices = useChoices();
  const found = useMemo(
    () => ranked(choices, letters, (one) => `${one.title} ${one.note}`).slice(0, MOST),
    [choices, letters],
  );
  const close = (): void => ui.show("");
  const take = (one: Choice | undefined): void => {
    if (one === undefined) return;
    close();
    one.run();
  };
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((now) => (now + step + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") take(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title="Commands" look="small" onClose={close}>
      <input
        className={style.input}
        data-focus
        role="combobox"
        aria-label="Command or session"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found[at] === undefined ? undefined : `${list}-${at}`}
        placeholder="Command or session"
        value={letters}
        onChange={(event) => {
          setLetters(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <div id={list} className={style.list} role="listbox" aria-label="Commands">
        {found.map((one, place) => (
          // the keys are the input's: it says which one is meant
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
          <div
            key={one.id}
            id={`${list}-${place}`}
            role="option"
            aria-selected={place === at}
            ref={place === at ? intoView : undefined}
            onClick={() => take(one)}
          >
            <span>{one.title}</span>
            <span className={style.note}>{one.note}</span>
          </div>
        ))}
      </div>
      <p className={style.note} role="status">
        {found.length === 0 && "Nothing is called that."}
      </p>
    </Modal>
  );
}

function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

function useChoices(): readonly Choice[] {
  const app = useApp();
  const route = useRoute();
  const rows = useRows();
  const { keys } = useSettings();
  return useMemo(() => {
    const there = route.view === "session" ? ["everywhere", "session"] : ["everywhere"];
    const actions = ACTIONS.filter(
      (one) => there.includes(one.where) && one.id !== "cancel" && one.id !== "palette",
    ).map((one) => ({
      id: one.id,
      title: one.title,
      note: spoken(keysOf(one.id, keys), MAC),
      run: () => runAction(app, one.id, route),
    }));
    const sessions = rows.toSorted(byAttention).map((row) => ({
      id: row.session,
      title: titleOf(row),
      note: doing(row),
      run: () => navigate({ view: "session", session: row.session }),
    }));
    return [...actions, ...sessions];
  }, [app, route, rows, keys]);
}

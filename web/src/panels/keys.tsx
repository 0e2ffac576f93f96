import { type KeyboardEvent, type ReactNode, useState } from "react";
import { ACTIONS, type Action, keysOf, refused } from "../keys/actions.ts";
import { chordOf, spoken } from "../keys/chord.ts";
import { MAC } from "../keys/mac.ts";
import { Button } from "../parts/button.tsx";
import { Modal } from "../parts/modal.tsx";
import { useApp, useSettings } from "../parts/use-store.ts";
import style from "./panels.module.css";

const PLACES = [
  ["everywhere", "Everywhere"],
  ["session", "In a session"],
  ["composer", "While you write"],
  ["prompt", "In a prompt that has the focus"],
] as const;

/** Every key, and the way to choose another one. */
export function Keys(): ReactNode {
  const { ui, settings } = useApp();
  const { keys } = useSettings();
  const [changing, setChanging] = useState("");
  const [problem, setProblem] = useState("");
  const choose = (id: string, chord: string): void => {
    const why = refused(id, chord, keys);
    setProblem(why);
    if (why !== "") return;
    settings.set({ keys: { ...keys, [id]: chord } });
    setChanging("");
  };
  const pressed = (event: KeyboardEvent, id: string): void => {
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") {
      setChanging("");
      setProblem("");
      return;
    }
    const chord = chordOf(event.nativeEvent, MAC);
    if (chord !== "") choose(id, chord);
  };
  return (
    <Modal title="Keys" onClose={() => ui.show("")}>
      <p className={style.note}>
        Choose one, then press the keys you want. Escape leaves it as it was.
      </p>
      {problem !== "" && (
        <p className={style.problem} role="alert">
          {problem}
        </p>
      )}
      {PLACES.map(([place, label]) => (
        <section key={place}>
          <h3 className={style.group}>{label}</h3>
          <ul>
            {ACTIONS.filter((one) => one.where === place).map((one) => (
              <li key={one.id} className={style.row}>
                <span>{one.title}</span>
                {one.id === "cancel" ? (
                  <kbd className={style.key}>Esc</kbd>
                ) : (
                  <Button
                    className={style.key}
                    aria-label={named(one, changing === one.id ? "" : said(one, keys))}
                    onClick={() => setChanging(one.id)}
                    onKeyDown={changing === one.id ? (event) => pressed(event, one.id) : undefined}
                    onBlur={() => setChanging("")}
                  >
                    {changing === one.id ? "Press keys" : said(one, keys)}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p>
        <Button onClick={() => settings.set({ keys: {} })}>Reset all keys</Button>
      </p>
    </Modal>
  );
}

/** What is on it is part of its name, so that it can be asked for aloud. */
function named(action: Action, now: string): string {
  return now === "" ? `Press keys for ${action.title}` : `Keys for ${action.title}: ${now}`;
}

function said(action: Action, chosen: Readonly<Record<string, string>>): string {
  return spoken(keysOf(action.id, chosen), MAC) || "none";
}

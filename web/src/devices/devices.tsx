import type { ReactNode } from "react";
import { wordsOf } from "../link/errors.ts";
import { Button } from "../parts/button.tsx";
import { ago } from "../parts/spoken.ts";
import { useAsked } from "../parts/use-asked.ts";
import { useNow } from "../parts/use-now.ts";
import { useApp, useKey } from "../parts/use-store.ts";
import { devicesOf } from "./list.ts";
import { Pairing } from "./pairing.tsx";
import { Slots } from "./slots.tsx";
import style from "../access/access.module.css";

/** Small devices that watch and answer: who may come in, with which rights, and what they show. */
export function Devices(): ReactNode {
  const app = useApp();
  const admin = useKey(app.emitter, "welcome", () => app.may("admin"));
  return (
    <div className={style.page}>
      <header className={style.head}>
        <h1>Devices</h1>
      </header>
      {admin ? <Known /> : <p className={style.note}>This login may not manage devices.</p>}
    </div>
  );
}

function Known(): ReactNode {
  const app = useApp();
  const now = useNow();
  // a device that has just come should be seen without asking
  const { value, problem, reload } = useAsked(() => app.ask("devices.list"), now);
  const told = devicesOf(value);
  const revoke = (id: string): void => {
    app.ask("devices.revoke", { name: id }).then(reload, (error: unknown) => {
      app.ui.toast(wordsOf(error), "error");
    });
  };
  return (
    <>
      <section className={style.section}>
        {problem !== "" && <p role="alert">{problem}</p>}
        <p className={style.note}>
          Small devices (a button box, a screen) can watch sessions and answer for you.{" "}
          {told.listening === "" ? (
            <>
              None can connect yet: start the gateway with{" "}
              <code>flybridge serve --companion-host ADDRESS</code>.
            </>
          ) : (
            `They connect to ${told.listening}, which is not encrypted: use it in a network you trust.`
          )}
        </p>
      </section>
      <section className={style.section}>
        <h2>Pair a device</h2>
        {told.waiting.length === 0 && (
          <p className={style.note}>
            No device waits. Type the code on its screen, or create a token for it.
          </p>
        )}
        <ul className={style.list}>
          {told.waiting.map((one) => (
            <li key={one.address}>
              <span>
                <strong>{one.address}</strong>
                <span className={style.about}>
                  waits since {ago(one.sinceMs, now)}; its code is on its screen
                </span>
              </span>
            </li>
          ))}
        </ul>
        <Pairing slots={told.slots.length} onPaired={reload} />
      </section>
      <section className={style.section}>
        <h2>Paired</h2>
        {told.devices.length === 0 && <p className={style.note}>None yet.</p>}
        <ul className={style.list}>
          {told.devices.map((one) => (
            <li key={one.id}>
              <span>
                <strong>{one.name}</strong>
                <span className={style.about}>
                  {one.rights.join(", ")} · {one.address || "by token"} ·{" "}
                  {one.connected > 0 ? "connected" : "not connected"}
                  {one.slots.length > 0 && ` · slots ${one.slots.join(", ")}`}
                </span>
              </span>
              <Button aria-label={`Revoke ${one.name}`} onClick={() => revoke(one.id)}>
                Revoke
              </Button>
            </li>
          ))}
        </ul>
      </section>
      {told.slots.length > 0 && <Slots slots={told.slots} onChanged={reload} />}
    </>
  );
}

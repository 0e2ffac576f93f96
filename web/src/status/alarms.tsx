import { type ReactNode, useEffect } from "react";
import { say } from "../notify/say.ts";
import { Button } from "../parts/button.tsx";
import { useApp, useKey, useRows } from "../parts/use-store.ts";
import { navigate, useRoute } from "../routes.ts";
import { titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import { unseen } from "../store/seen-alarms.ts";
import style from "./connection.module.css";

const SHOWN = 3;

/** Alarms of all sessions that nobody has seen yet: they stay until somebody dismisses them. */
export function Alarms(): ReactNode {
  const { alarms } = useApp();
  const seen = useKey(alarms.emitter, "seen", () => alarms.seen);
  const rows = unseen(useRows(), seen);
  const latest = rows[0]?.alarm?.text ?? "";
  useEffect(() => {
    if (latest !== "") say(`Alarm: ${latest}`, "assertive");
  }, [latest]);
  return (
    <>
      {rows.slice(0, SHOWN).map((row) => (
        <Alarm key={row.session} row={row} />
      ))}
      {rows.length > SHOWN && (
        <p className={style.bar} data-kind="stopped">
          Alarms in {rows.length - SHOWN} more sessions
        </p>
      )}
    </>
  );
}

function Alarm({ row }: { readonly row: Row }): ReactNode {
  const { alarms } = useApp();
  const route = useRoute();
  const here = route.view === "session" && route.session === row.session;
  return (
    <section className={style.bar} data-kind="stopped" aria-label="Unseen alarm">
      <p>
        <strong>Alarm{here ? "" : ` in ${titleOf(row)}`}:</strong> {row.alarm?.text}{" "}
        {row.alarm?.advice}
      </p>
      {!here && (
        <Button look="plain" onClick={() => navigate({ view: "session", session: row.session })}>
          Open session
        </Button>
      )}
      <Button look="quiet" onClick={() => alarms.dismiss(row)}>
        Dismiss
      </Button>
    </section>
  );
}

import { type ReactNode, useState } from "react";
import { call } from "../link/http.ts";
import { Button } from "../parts/button.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { useAsked } from "../parts/use-asked.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";
import style from "./access.module.css";

/** Who did what, the newest first; the record itself cannot be changed unseen. */
export function Audit(): ReactNode {
  const [refusedOnly, setRefusedOnly] = useState(false);
  const { value, problem, reload } = useAsked(newest);
  const records = (value ?? []).filter((one) => !refusedOnly || isBad(one));
  return (
    <section className={style.section}>
      <div className={style.head}>
        <h2>Audit log</h2>
        <label className={style.check}>
          <input
            type="checkbox"
            checked={refusedOnly}
            onChange={(event) => setRefusedOnly(event.target.checked)}
          />
          Only refusals and failures
        </label>
        <Button look="quiet" onClick={reload}>
          Refresh
        </Button>
      </div>
      {problem !== "" && <p role="alert">{problem}</p>}
      <Scroll label="Audit log" className={style.table}>
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Who</th>
              <th scope="col">What</th>
              <th scope="col">Outcome</th>
              <th scope="col">Where</th>
            </tr>
          </thead>
          <tbody>
            {records.map((one) => (
              <tr key={numberOf(one["n"])}>
                <td>{new Date(numberOf(one["at_ms"])).toLocaleString()}</td>
                <td>{textOf(one["principal"]) || "nobody known"}</td>
                <td>
                  {textOf(one["event"])} {textOf(one["detail"])}
                </td>
                <td className={isBad(one) ? style.bad : undefined}>
                  {[textOf(one["outcome"]), textOf(one["code"])].filter(Boolean).join(": ")}
                </td>
                <td>{textOf(one["session"]) || textOf(one["source"]) || textOf(one["door"])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className={style.note}>
        The newest 200. Each record holds the hash of the one before it;{" "}
        <code>flybridge audit verify</code> checks them all.
      </p>
    </section>
  );
}

function isBad(record: Fields): boolean {
  return record["outcome"] === "refused" || record["outcome"] === "failed";
}

async function newest(): Promise<readonly Fields[]> {
  const value = await call("GET", "/audit?newest=true&limit=200");
  return listOf(fieldsOf(value)["records"]).map(fieldsOf).toReversed();
}

import type { ReactNode } from "react";
import { fieldsOf, textOf } from "../store/values.ts";
import { visible } from "../text/control.ts";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

/** A command and what it printed, in its own colours. */
export function Bash({ store, item }: BodyProps): ReactNode {
  const given = fieldsOf(inputOf(item));
  const command = textOf(given["command"]) || item.subject.command;
  const background = given["run_in_background"] === true;
  return (
    <div className={style.stack}>
      {command !== "" && <p className={style.command}>{visible(command)}</p>}
      {(textOf(given["description"]) !== "" || background) && (
        <p className={style.meta}>
          {[textOf(given["description"]), background ? "in the background" : ""]
            .filter((one) => one !== "")
            .join(" · ")}
        </p>
      )}
      <Output store={store} item={item} />
    </div>
  );
}

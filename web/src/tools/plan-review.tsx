import type { ReactNode } from "react";
import { fieldsOf, textOf } from "../store/values.ts";
import { Prose } from "../text/prose.tsx";
import type { BodyProps } from "./body.ts";
import { Given } from "./generic.tsx";
import { Output } from "./output.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

/** A plan that was put forward for approval. */
export function PlanReview({ store, item }: BodyProps): ReactNode {
  const plan = textOf(fieldsOf(inputOf(item))["plan"]);
  return (
    <div className={style.stack}>
      {plan !== "" ? (
        <Prose text={plan} />
      ) : (
        <Given given={inputOf(item)} draft={item.draft} blob={item.inputBlob} />
      )}
      {item.status !== "ok" && <Output store={store} item={item} />}
    </div>
  );
}

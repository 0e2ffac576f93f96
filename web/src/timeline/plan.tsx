import type { ReactNode } from "react";
import { isPlan } from "../dock/titles.ts";
import { usePrompts } from "../parts/use-store.ts";
import { Whole } from "../parts/whole.tsx";
import type { PlanItem } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import { HeadingBase } from "../text/heading-base.tsx";
import { Prose } from "../text/prose.tsx";
import style from "./entry.module.css";

interface Props {
  readonly store: SessionStore;
  readonly item: PlanItem;
}

/** A plan that was put forward, for as long as anybody wants to read it. */
export function Plan({ store, item }: Props): ReactNode {
  const asked = usePrompts(store).some(
    (one) => isPlan(one) && textOf(fieldsOf(one.input)["plan"]) === item.text,
  );
  // whoever is asked about it has it before them
  if (asked) return <p className={style.aside}>A plan, which waits for you</p>;
  return (
    <section className={style.plan} aria-label="Plan">
      <h2 className={style.meta}>Plan</h2>
      <Whole text={item.text} blob={item.blob}>
        {(text) => (
          <HeadingBase value={3}>
            <Prose text={text} />
          </HeadingBase>
        )}
      </Whole>
    </section>
  );
}

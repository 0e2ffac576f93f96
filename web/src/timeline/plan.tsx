import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import type { PlanItem } from "../store/items.ts";
import { HeadingBase } from "../text/heading-base.tsx";
import { Prose } from "../text/prose.tsx";
import style from "./entry.module.css";

/** A plan that was put forward, for as long as anybody wants to read it. */
export function Plan({ item }: { readonly item: PlanItem }): ReactNode {
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

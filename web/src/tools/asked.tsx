import { type ReactNode, useMemo } from "react";
import { previewOf } from "../diff/preview.ts";
import { Disclosure } from "../parts/disclosure.tsx";
import type { Json, ToolItem } from "../store/items.ts";
import { kindOf } from "../store/tool-kinds.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import { visible } from "../text/control.ts";
import type { BodyProps } from "./body.ts";
import { Given } from "./generic.tsx";
import { Previewed } from "./previewed.tsx";
import style from "./body.module.css";

/** What the agent had asked, before somebody changed it: folded away, because it did not run. */
export function Asked({ store, item, cwd }: BodyProps): ReactNode {
  if (item.asked === undefined) return null;
  const id = `${store.session}:${item.id}:asked`;
  return (
    <div className={style.folds}>
      <Disclosure id={id} title={<span className={style.meta}>What the agent had asked</span>}>
        <Subject id={id} item={item} asked={item.asked} cwd={cwd} />
      </Disclosure>
    </div>
  );
}

interface SubjectProps {
  readonly id: string;
  readonly item: ToolItem;
  readonly asked: Json;
  readonly cwd: string;
}

/** As the prompt showed it: a change as a difference, a command as one, anything else field by field. */
function Subject({ id, item, asked, cwd }: SubjectProps): ReactNode {
  const preview = useMemo(() => previewOf(item.name, asked), [item.name, asked]);
  if (preview !== null) return <Previewed id={id} preview={preview} cwd={cwd} note="not done" />;
  const runs = kindOf(item.tool, item.name) === "execute";
  const command = runs ? textOf(fieldsOf(asked)["command"]) : "";
  if (command !== "") return <p className={style.command}>{visible(command)}</p>;
  return <Given given={asked} draft="" blob="" />;
}

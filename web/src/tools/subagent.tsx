import { type ReactNode, use } from "react";
import { Scroll } from "../parts/scroll.tsx";
import { Disclosure } from "../parts/disclosure.tsx";
import { useChildren, useItem } from "../parts/use-store.ts";
import { Whole } from "../parts/whole.tsx";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import { Prose } from "../text/prose.tsx";
import type { BodyProps } from "./body.ts";
import { labelOf } from "./names.ts";
import { NestedContext } from "./nested.ts";
import { inputOf, targetOf } from "./target.ts";
import style from "./body.module.css";

/** Another agent at work: what it was told, what it does, what it brought back. */
export function Subagent({ store, item, cwd }: BodyProps): ReactNode {
  const given = fieldsOf(inputOf(item));
  const prompt = textOf(given["prompt"]);
  const running = item.status === "running";
  const work = use(NestedContext);
  return (
    <div className={style.stack}>
      <p className={style.meta}>{textOf(given["subagent_type"]) || "agent"}</p>
      {running && <Now store={store} parent={item.id} cwd={cwd} />}
      <div className={style.folds}>
        {prompt !== "" && (
          <Disclosure id={`${store.session}:${item.id}:prompt`} title="What it was told" flush>
            <Scroll className={style.prompt} label="What it was told">
              <Prose text={prompt} />
            </Scroll>
          </Disclosure>
        )}
        <Disclosure
          id={`${store.session}:${item.id}:work`}
          title={running ? "What it does" : "What it did"}
          open={running}
          flush
        >
          <div className={style.nested}>{work(store, item.id)}</div>
        </Disclosure>
      </div>
      {item.text !== "" && (
        <Whole text={item.text} blob={item.blob}>
          {(text) => <Prose text={text} />}
        </Whole>
      )}
    </div>
  );
}

interface Of {
  readonly store: SessionStore;
  readonly parent: string;
}

/** Its current action, for whoever does not want to see all of them. */
function Now({ store, parent, cwd }: Of & { readonly cwd: string }): ReactNode {
  const ids = useChildren(store, parent);
  const last = useItem(store, ids[ids.length - 1] ?? "");
  if (last === undefined) return <p className={style.meta}>Starting</p>;
  if (last.kind === "tool") {
    return (
      <p className={style.meta}>
        {labelOf(last.name, last.tool)} {targetOf(last, cwd)}
      </p>
    );
  }
  return <p className={style.meta}>{last.kind === "thinking" ? "Thinking" : "Writing"}</p>;
}

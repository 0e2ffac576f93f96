import type { ReactNode } from "react";
import type { Suggestion } from "./use-suggestions.ts";
import style from "./suggestion-list.module.css";

interface Props {
  readonly id: string;
  readonly label: string;
  readonly all: readonly Suggestion[];
  readonly at: number;
  readonly onPoint: (at: number) => void;
  readonly onChoose: (one: Suggestion) => void;
}

export function optionId(list: string, at: number): string {
  return `${list}-${at}`;
}

function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

/** A list above the text. The focus stays in the text; which one is meant is said by its id. */
export function SuggestionList({ id, label, all, at, onPoint, onChoose }: Props): ReactNode {
  return (
    <div id={id} className={style.list} role="listbox" aria-label={label} tabIndex={0}>
      {all.map((one, index) => (
        <div key={one.id} role="presentation">
          {one.group !== "" && one.group !== all[index - 1]?.group && (
            <div className={style.group} role="presentation">
              {one.group}
            </div>
          )}
          {/* the text has the focus and handles the keys */}
          {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */}
          <div
            id={optionId(id, index)}
            ref={index === at ? intoView : undefined}
            className={style.one}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => {
              if (index !== at) onPoint(index);
            }}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onChoose(one)}
          >
            <span className={style.label}>{one.label}</span>
            {one.hint !== "" && <span className={style.hint}>{one.hint}</span>}
            <span className={style.about}>{one.about}</span>
          </div>
        </div>
      ))}
    </div>
  );
}

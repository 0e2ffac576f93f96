import { type ReactNode, useEffect, useId, useState } from "react";
import { Drafts } from "../composer/drafts.ts";
import { Button } from "../parts/button.tsx";
import type { Prompt, Question } from "../store/items.ts";
import {
  type Chosen,
  type Sheet,
  answersOf,
  changed,
  emptySheet,
  isWhole,
  picked,
  sheetOf,
  written,
} from "./answers.ts";
import style from "./dock.module.css";
import { exact } from "./exact.ts";
import type { Guard } from "./guard.ts";
import type { Answer } from "./use-answer.ts";

interface Props {
  readonly prompt: Prompt;
  readonly answer: Answer;
  readonly guard: Guard;
  readonly may: boolean;
}

/** Questions: all of them in one form, answered at once. What is chosen survives a reload. */
export function QuestionForm({ prompt, answer, guard, may }: Props): ReactNode {
  const [drafts] = useState(() => new Drafts(sessionStorage, "answers", sheetOf));
  const [sheet, setSheet] = useState<Sheet>(() => {
    const kept = drafts.get(prompt.id);
    return kept?.length === prompt.questions.length ? kept : emptySheet(prompt.questions);
  });
  useEffect(() => drafts.set(prompt.id, sheet), [drafts, prompt, sheet]);
  const off = !may || !guard.open || answer.sending;
  const counts = (): boolean => may && guard.counts() && !answer.sending;
  return (
    <form
      className={style.card}
      aria-label="Questions"
      onSubmit={(event) => {
        event.preventDefault();
        if (!counts() || !isWhole(sheet)) return;
        answer.reply({ answers: answersOf(prompt.questions, sheet) });
      }}
    >
      <div className={style.body}>
        {prompt.questions.map((one, at) => (
          <One
            // oxlint-disable-next-line react/no-array-index-key -- its place is its name
            key={at}
            question={one}
            chosen={sheet[at]}
            disabled={!may}
            onPick={(label) => setSheet(picked(sheet, at, one, label))}
            onWrite={(text) => setSheet(written(sheet, at, one, text))}
            onOther={(use) =>
              setSheet(
                changed(sheet, at, { useOther: use, ...(one.multiSelect ? {} : { labels: [] }) }),
              )
            }
          />
        ))}
      </div>
      <div className={style.actions}>
        <Button type="submit" look="main" aria-disabled={off || !isWhole(sheet)}>
          {prompt.questions.length > 1 ? "Send answers" : "Send answer"}
        </Button>
        <span className={style.gap} />
        <Button
          className={style.deny}
          aria-disabled={off}
          onClick={() => {
            if (counts()) answer.reply({ declined: true });
          }}
        >
          Do not answer
        </Button>
      </div>
    </form>
  );
}

interface OneProps {
  readonly question: Question;
  readonly chosen: Chosen | undefined;
  readonly disabled: boolean;
  readonly onPick: (label: string) => void;
  readonly onWrite: (text: string) => void;
  readonly onOther: (use: boolean) => void;
}

function One({ question, chosen, disabled, onPick, onWrite, onOther }: OneProps): ReactNode {
  const id = useId();
  const type = question.multiSelect ? "checkbox" : "radio";
  return (
    <fieldset className={style.question} disabled={disabled}>
      <legend>
        {question.header !== "" && <span className={style.header}>{exact(question.header)}</span>}{" "}
        {exact(question.question)}
      </legend>
      {question.options.map((one) => (
        <label key={one.label} className={style.option}>
          <input
            type={type}
            name={id}
            checked={chosen?.labels.includes(one.label) === true}
            onChange={() => onPick(one.label)}
          />
          <span className={style.label}>{exact(one.label)}</span>
          {one.description !== "" && (
            <span className={style.description}>{exact(one.description)}</span>
          )}
        </label>
      ))}
      <div className={style.option}>
        <label className={style.hit}>
          <input
            type={type}
            name={id}
            aria-label="Something else"
            checked={chosen?.useOther === true}
            onChange={(event) => onOther(event.target.checked)}
          />
        </label>
        <input
          type="text"
          className={style.other}
          aria-label={`Your own answer: ${question.question}`}
          placeholder="Something else"
          value={chosen?.other ?? ""}
          onChange={(event) => onWrite(event.target.value)}
        />
      </div>
    </fieldset>
  );
}

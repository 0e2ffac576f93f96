import type { ReactNode } from "react";
import { questionsOf } from "../store/prompts.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import type { ToolItem } from "../store/items.ts";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

/** What was asked, and what was answered. */
export function Questions({ store, item }: BodyProps): ReactNode {
  const given = fieldsOf(inputOf(item));
  const answers = fieldsOf(fieldsOf(item.detail)["answers"] ?? given["answers"]);
  const questions = questionsOf(given["questions"]);
  if (questions.length === 0) return <Output store={store} item={item} />;
  return (
    <dl className={style.answers}>
      {questions.map((one) => (
        <div key={one.question}>
          <dt>{one.question}</dt>
          <dd>{textOf(answers[one.question]) || unanswered(item)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Why there is no answer: not yet, or not any more. */
function unanswered(item: ToolItem): string {
  if (item.status === "writing" || item.status === "running") return "No answer yet";
  return item.status === "ok" ? "" : "Not answered";
}

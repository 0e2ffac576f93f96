import type { ReactNode } from "react";
import { Disclosure } from "../parts/disclosure.tsx";
import { clock, count } from "../parts/spoken.ts";
import { useKey } from "../parts/use-store.ts";
import type { Item, NoteItem } from "../store/items.ts";
import { modeName } from "../store/modes.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, numberOf, textOf } from "../store/values.ts";
import { Ansi } from "../text/ansi-view.tsx";
import { Prose } from "../text/prose.tsx";
import { adviceFor, untilAdvice } from "./advice.ts";
import style from "./entry.module.css";

interface Props {
  readonly store: SessionStore;
  readonly item: NoteItem;
  /** What a failure is about, where that is no line of its own. */
  readonly limit?: Item | undefined;
}

/** Something that happened and belongs to nothing else. */
export function Note({ store, item, limit }: Props): ReactNode {
  switch (item.note) {
    case "compaction":
      return <Rule text={compaction(item)} />;
    case "history":
      return (
        <Rule
          text={item.text === "started" ? "Said before this session" : "From here on, this session"}
        />
      );
    case "closed":
      return <Rule text={item.text === "" ? "Closed" : `Closed: ${item.text}`} />;
    case "notice":
      return <Notice item={item} />;
    case "error":
    case "exited":
    case "lost":
      return <ErrorCard item={item} limit={limit} />;
    case "alarm":
      return <AlarmCard item={item} />;
    case "mode":
      return <ModeLine store={store} item={item} />;
    case "unrecognised":
    case "unknown":
      return (
        <div className={style.aside}>
          <Disclosure id={`note:${item.id}`} title="A message this version does not know">
            <pre className={style.raw}>{item.text || JSON.stringify(item.event, null, 2)}</pre>
          </Disclosure>
        </div>
      );
    default:
      return <Line item={item} text={words(item)} />;
  }
}

function Line({ item, text }: { readonly item: NoteItem; readonly text: string }): ReactNode {
  return (
    <p className={item.level === "info" ? style.aside : style.warning} data-note={item.note}>
      {text}
    </p>
  );
}

function ModeLine({ store, item }: Pick<Props, "store" | "item">): ReactNode {
  const modes = useKey(store.emitter, "modes", () => store.modes);
  return <Line item={item} text={`Permission mode: ${modeName(modes, item.text)}`} />;
}

function Rule({ text }: { readonly text: string }): ReactNode {
  return (
    <div className={style.rule} role="separator" aria-label={text}>
      <span>{text}</span>
    </div>
  );
}

function Notice({ item }: { readonly item: NoteItem }): ReactNode {
  if (fieldsOf(item.event)["command"] === true) {
    return (
      <div className={style.command}>
        <Prose text={item.text} />
      </div>
    );
  }
  return <p className={item.level === "warning" ? style.warning : style.aside}>{item.text}</p>;
}

function ErrorCard({ item, limit }: Omit<Props, "store">): ReactNode {
  const event = fieldsOf(item.event);
  const resetsMs = limit?.kind === "note" ? numberOf(fieldsOf(limit.event)["resets_ms"]) : 0;
  const { title, advice } = adviceFor(item.note, textOf(event["code"]), textOf(event["why"]));
  return (
    <section className={style.error} aria-label={title}>
      <h2>{title}</h2>
      {item.text !== "" && (
        <div className={style.raw}>
          <Ansi text={item.text} />
        </div>
      )}
      <p>{resetsMs > 0 ? untilAdvice(clock(resetsMs, item.atMs)) : advice}</p>
    </section>
  );
}

/** What happened, why it matters, what to do: as plain text, for some of it is an agent's. */
function AlarmCard({ item }: { readonly item: NoteItem }): ReactNode {
  return (
    <section className={style.error} aria-label="Alarm" data-note="alarm">
      <h2>Alarm</h2>
      <p>{item.text}</p>
      <p>{textOf(fieldsOf(item.event)["advice"])}</p>
    </section>
  );
}

function compaction(item: NoteItem): string {
  const detail = fieldsOf(fieldsOf(item.event)["detail"]);
  const before = numberOf(detail["pre_tokens"]);
  const after = numberOf(detail["post_tokens"]);
  if (item.text === "started") return "Compacts its context";
  if (item.text === "failed") return "Its context could not be compacted";
  if (before > 0 && after > 0)
    return `Context compacted: ${count(before)} to ${count(after)} tokens`;
  return before > 0 ? `Context compacted, from ${count(before)} tokens` : "Context compacted";
}

function words(item: NoteItem): string {
  const event = fieldsOf(item.event);
  switch (item.note) {
    case "gap":
      return `Some output is missing here: ${item.text}`;
    case "retry":
      return retry(numberOf(event["attempt"]), item.text);
    case "rate_limit":
      return rateLimit(numberOf(event["resets_ms"]), item);
    case "model":
      return `Model: ${item.text}`;
    case "auto":
      return `${textOf(event["tool"])} was denied by a rule${item.text === "" ? "" : `: ${item.text}`}`;
    case "decision":
      return `A prompt was ${textOf(event["how"])}${textOf(event["by"]) === "" ? "" : ` by ${textOf(event["by"])}`}`;
    case "answers":
      return `Questions ${item.text}`;
    default:
      return item.text;
  }
}

function retry(attempt: number, reason: string): string {
  const why = reason === "" ? "" : `: ${reason.replaceAll("_", " ")}`;
  return `The model did not answer; trying again (${attempt})${why}`;
}

function rateLimit(resetsMs: number, { text, atMs }: NoteItem): string {
  const until = resetsMs > 0 ? ` until ${clock(resetsMs, atMs)}` : "";
  return text.includes("warn") ? `Close to the rate limit${until}` : `At the rate limit${until}`;
}

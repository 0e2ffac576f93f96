import type { ReactNode } from "react";
import type { Content } from "../protocol.gen.ts";
import type { InputStage, UserItem } from "../store/items.ts";
import { Picture } from "../parts/picture.tsx";
import { useApp } from "../parts/use-store.ts";
import { LongText } from "../text/long-text.tsx";
import style from "./entry.module.css";

/** What became of it, where that is worth a word. */
const TOLD: Partial<Readonly<Record<InputStage, string>>> = {
  accepted: "On its way",
  dispatched: "On its way",
  cancelled: "Taken back",
  expired: "Too late, not delivered",
  lost: "Lost: the agent ended before it read this",
  not_delivered: "Not delivered",
  refused: "The agent refused it",
  unknown: "Not known whether the agent has read it",
};

/** What a person said. */
export function UserMessage({ item }: { readonly item: UserItem }): ReactNode {
  const app = useApp();
  const told = TOLD[item.stage];
  // who said it before this session is not known: on this machine it was most likely the same person
  const mine = item.past || item.by === "" || item.by === app.welcome?.principal;
  return (
    <article className={style.user} aria-label={mine ? "You" : item.by} data-stage={item.stage}>
      {item.content.map((part, at) => (
        // parts never change their order
        // oxlint-disable-next-line react/no-array-index-key
        <Part key={at} part={part} />
      ))}
      {(told !== undefined || !mine || item.steered) && (
        <p className={style.meta}>
          {[
            mine ? "" : `by ${item.by}`,
            item.steered ? "while it worked" : "",
            told ?? "",
            item.reason,
          ]
            .filter((one) => one !== "")
            .join(" · ")}
        </p>
      )}
    </article>
  );
}

function Part({ part }: { readonly part: Content }): ReactNode {
  switch (part.type) {
    case "text":
      return (
        <LongText text={part.text}>{(shown) => <p className={style.words}>{shown}</p>}</LongText>
      );
    case "image":
      return <Picture className={style.picture} part={part} alt="Attached" />;
    case "document":
      return <p className={style.meta}>Attached: {part.title || part.media_type}</p>;
  }
}

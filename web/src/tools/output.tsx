import {
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { blobEnds, blobEndsHere, blobText, blobTextHere } from "../link/blobs.ts";
import { wordsOf } from "../link/errors.ts";
import { useOpened } from "../parts/opened.ts";
import { Ansi } from "../text/ansi-view.tsx";
import { withoutAnsi } from "../text/ansi.ts";
import { CopyButton } from "../text/copy-button.tsx";
import { LongText } from "../text/long-text.tsx";
import { sizeText } from "../text/long.ts";
import type { BodyProps } from "./body.ts";
import style from "./body.module.css";

/** Bytes of either end of a long output. */
const END = 32 * 1024;
/** As much as can be marked with a finger. */
const SHORT = 200;

/** What a tool printed: as it comes, then all of it; of very much, both ends until somebody asks. */
export function Output({ store, item }: Pick<BodyProps, "store" | "item">): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const running = item.status === "running";
  useNewest(box, running, item.text);
  // what a model is told of a denial, people are told below, in the words of who denied it
  if (item.status === "denied" && item.decision?.how === "denied") return null;
  if (item.text === "" && item.blob === "") return null;
  const text = withoutTags(item.text);
  const whole = async (): Promise<string> =>
    withoutAnsi(item.blob === "" ? text : await blobText(item.blob));
  return (
    <div
      ref={box}
      className={item.status === "error" && !item.stopped ? style.failed : style.output}
    >
      {!running && (
        <div className={style.copy} data-short={item.blob === "" && text.length < SHORT}>
          <CopyButton text={whole} label="Copy output" />
        </div>
      )}
      {item.blob === "" ? (
        <LongText text={text}>{(part) => <Ansi text={part} />}</LongText>
      ) : (
        <Fetched id={`all:${store.session}:${item.id}`} text={text} blob={item.blob} />
      )}
    </div>
  );
}

interface FetchedProps {
  /** Names it: what was asked for stays. */
  readonly id: string;
  readonly text: string;
  readonly blob: string;
}

/** An output too long for the log. Its ends come when it is looked at, all of it on request. */
function Fetched({ id, text, blob }: FetchedProps): ReactNode {
  const [wanted, want] = useOpened(id, false);
  const [, setCame] = useState(0);
  const [problem, setProblem] = useState("");
  const all = wanted ? blobTextHere(blob) : undefined;
  const ends = blobEndsHere(blob);
  const missing = wanted ? all === undefined : ends === undefined;
  useEffect(() => {
    if (!missing) return undefined;
    let over = false;
    const came = (): void => {
      if (!over) setCame((n) => n + 1);
    };
    (wanted ? blobText(blob) : blobEnds(blob, END)).then(came, (error: unknown) => {
      if (!over) setProblem(wordsOf(error));
    });
    return () => {
      over = true;
    };
  }, [missing, wanted, blob]);
  if (all !== undefined) return <Ansi text={all} />;
  return (
    <div className={style.ends}>
      <Ansi text={ends?.head ?? text} label="Beginning of the output" />
      {ends !== undefined && (
        <button
          type="button"
          className={style.between}
          disabled={wanted && problem === ""}
          onClick={() => {
            setProblem("");
            want(true);
          }}
        >
          {wanted && problem === ""
            ? "Fetching all of it"
            : `Show all, ${sizeText(ends.hidden)} more`}
        </button>
      )}
      {problem !== "" && (
        <p className={style.meta} role="alert">
          {problem}
        </p>
      )}
      {ends !== undefined && <End text={ends.tail} />}
    </div>
  );
}

/** The end of it, seen from its end. */
function End({ text }: { readonly text: string }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => toEnd(box.current), [text]);
  return (
    <div ref={box}>
      <Ansi text={text} label="End of the output" />
    </div>
  );
}

/** While it runs, the newest line stays in sight, unless somebody scrolled away from it. */
function useNewest(box: RefObject<HTMLDivElement | null>, on: boolean, text: string): void {
  const left = useRef(false);
  useEffect(() => {
    const element = box.current;
    if (!on || element === null) return undefined;
    const scrolled = (event: Event): void => {
      if (event.target instanceof HTMLElement) left.current = !isAtEnd(event.target);
    };
    // scrolling does not bubble
    element.addEventListener("scroll", scrolled, { capture: true, passive: true });
    return () => element.removeEventListener("scroll", scrolled, { capture: true });
  }, [box, on]);
  useLayoutEffect(() => {
    if (on && !left.current) toEnd(box.current);
  }, [box, on, text]);
}

const NEAR = 24;

function isAtEnd(box: HTMLElement): boolean {
  return box.scrollHeight - box.clientHeight - box.scrollTop <= NEAR;
}

function toEnd(box: HTMLElement | null): void {
  const scroller = box?.querySelector("pre:last-of-type");
  if (scroller !== null && scroller !== undefined) scroller.scrollTop = scroller.scrollHeight;
}

/** An agent wraps its own errors in a mark that is for the model. */
export function withoutTags(text: string): string {
  return text.replace(/^<tool_use_error>([\s\S]*?)(<\/tool_use_error>)?$/, "$1");
}

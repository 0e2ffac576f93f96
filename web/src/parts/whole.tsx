import { type ReactNode, useEffect, useRef, useState } from "react";
import { blobText, blobTextHere } from "../link/blobs.ts";
import { wordsOf } from "../link/errors.ts";
import { Button } from "./button.tsx";

interface Props {
  /** What is in the log: the beginning, when there is more. */
  readonly text: string;
  /** Where the whole is; "": that was it. */
  readonly blob: string;
  /** It is fetched without being asked for: it may have grown too long while people read it. */
  readonly eager?: boolean;
  readonly children: (text: string) => ReactNode;
}

/** A text that may be too long for the log: its beginning, and on request all of it. */
export function Whole({ text, blob, eager = false, children }: Props): ReactNode {
  const [fetched, setFetched] = useState<string>();
  const [problem, setProblem] = useState("");
  const grown = useGrown(text, blob);
  // somebody has asked for it before, and sees it again when it is drawn again
  const all = fetched ?? blobTextHere(blob);
  const wanted = eager && blob !== "" && all === undefined;
  const fetchAll = (): void => {
    blobText(blob).then(setFetched, (error: unknown) => setProblem(wordsOf(error)));
  };
  useEffect(() => {
    if (wanted) {
      blobText(blob).then(setFetched, (error: unknown) => setProblem(wordsOf(error)));
    }
  }, [wanted, blob]);
  return (
    <>
      {children(all ?? grown)}
      {blob !== "" && all === undefined && (!eager || problem !== "") && (
        <p>
          <Button look="quiet" onClick={fetchAll}>
            Show all of it
          </Button>
          {problem !== "" && <span role="alert"> {problem}</span>}
        </p>
      )}
    </>
  );
}

/** What streamed before its end made it too long: nobody loses what they are reading meanwhile. */
function useGrown(text: string, blob: string): string {
  const streamed = useRef("");
  useEffect(() => {
    if (blob === "") streamed.current = text;
  }, [text, blob]);
  // oxlint-disable-next-line react/refs -- it is only read when the text it was made of is over
  return blob !== "" && streamed.current.startsWith(text) ? streamed.current : text;
}

import { type ReactNode, useState } from "react";
import { blobText } from "../link/blobs.ts";
import { wordsOf } from "../link/errors.ts";
import { Button } from "./button.tsx";

interface Props {
  /** What is in the log: the beginning, when there is more. */
  readonly text: string;
  /** Where the whole is; "": that was it. */
  readonly blob: string;
  readonly children: (text: string) => ReactNode;
}

/** A text that may be too long for the log: its beginning, and on request all of it. */
export function Whole({ text, blob, children }: Props): ReactNode {
  const [all, setAll] = useState<string>();
  const [problem, setProblem] = useState("");
  const fetchAll = (): void => {
    blobText(blob).then(setAll, (error: unknown) => setProblem(wordsOf(error)));
  };
  return (
    <>
      {children(all ?? text)}
      {blob !== "" && all === undefined && (
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

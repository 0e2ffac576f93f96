/** Something the gateway is asked when a component is shown, and again when `again` changes. */
import { useCallback, useEffect, useState } from "react";
import { wordsOf } from "../link/errors.ts";

export interface Asked<T> {
  readonly value: T | undefined;
  /** Why there is none, for people; "": none is known yet, or there is one. */
  readonly problem: string;
  readonly reload: () => void;
}

export function useAsked<T>(ask: () => Promise<T>, again: unknown = ""): Asked<T> {
  const [value, setValue] = useState<T>();
  const [problem, setProblem] = useState("");
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((one) => one + 1), []);
  useEffect(() => {
    let wanted = true;
    ask().then(
      (answer) => {
        if (!wanted) return;
        setValue(answer);
        setProblem("");
      },
      (error: unknown) => {
        if (wanted) setProblem(wordsOf(error));
      },
    );
    return () => {
      wanted = false;
    };
    // oxlint-disable-next-line react/exhaustive-deps -- a new function is no new question
  }, [again, round]);
  return { value, problem, reload };
}

import { useEffect, useRef, useState } from "react";

/**
 * Goes through work that takes long, one step in each task, so that keys and frames come in between;
 * whether it is over. `make` is asked once. Without work, it is over from the first frame on.
 */
export function useInSteps(make: () => Iterator<unknown> | undefined): boolean {
  const [work] = useState(make);
  const [over, setOver] = useState(work === undefined);
  const left = useRef(work);
  useEffect(() => {
    if (over) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const step = (): void => {
      if (left.current?.next().done === false) timer = setTimeout(step);
      else setOver(true);
    };
    timer = setTimeout(step); // after the frame that shows that it has begun
    return () => clearTimeout(timer);
  }, [over]);
  return over;
}

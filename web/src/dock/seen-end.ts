import { type RefObject, useEffect, useRef, useState } from "react";

export interface SeenEnd {
  readonly seen: boolean;
  readonly body: RefObject<HTMLDivElement | null>;
  /** Goes behind the last thing in the body. */
  readonly end: RefObject<HTMLDivElement | null>;
  readonly show: () => void;
}

/** Whether somebody had the end of it on the screen. What fits is seen at once. `there`: it is drawn. */
export function useSeenEnd(there: boolean): SeenEnd {
  const body = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!there || seen || end.current === null) return undefined;
    const watch = new IntersectionObserver(
      (found) => {
        if (found.some((one) => one.isIntersecting)) setSeen(true);
      },
      { root: body.current },
    );
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [there, seen]);
  const show = (): void => {
    body.current?.scrollTo({ top: body.current.scrollHeight });
  };
  return { seen, body, end, show };
}

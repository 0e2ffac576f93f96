import { type ReactNode, useEffect, useRef, useState } from "react";

/** What is this near to what is seen is drawn. */
const MARGIN = "800px";

interface Props {
  /** Rows of code in it, for its height before it was drawn. */
  readonly rows: number;
  /** It is drawn from the first frame on: it is where people begin to read. */
  readonly first?: boolean;
  readonly className?: string | undefined;
  readonly children: () => ReactNode;
}

/** The height of a row of code, as in the style sheets. */
const ROW_REM = 1.1875;

/**
 * A part of something very long, which is drawn only while it is near what is seen.
 *
 * Far away it is a space: of the height it had, or of the one its rows will have.
 */
export function Near({ rows, first = false, className, children }: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(first);
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    let drawn = first;
    const watch = new IntersectionObserver(
      (seen) => {
        const last = seen[seen.length - 1];
        if (last === undefined) return;
        if (drawn && !last.isIntersecting) setHeight(last.boundingClientRect.height);
        drawn = last.isIntersecting;
        setNear(drawn);
      },
      // the first is for the page's own edges, the other for boxes that scroll inside it
      { rootMargin: MARGIN, scrollMargin: MARGIN } as IntersectionObserverInit,
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, [first]);
  const space = height > 0 ? height : `${rows * ROW_REM}rem`;
  return (
    <div ref={box} className={className} style={near ? undefined : { height: space }}>
      {near && children()}
    </div>
  );
}

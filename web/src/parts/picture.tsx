import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { wordsOf } from "../link/errors.ts";
import { pictureHere, takePicture } from "./picture-urls.ts";

/** What is this near to what is seen is fetched. */
const MARGIN = "800px";

interface Props {
  /** As a message has it: the picture itself in base64, or its digest. */
  readonly part: { readonly media_type?: string; readonly data?: string; readonly blob?: string };
  readonly alt: string;
  readonly className?: string | undefined;
}

/** A picture of a message. One that the gateway has is fetched when it comes near. */
export function Picture({ part, alt, className }: Props): ReactNode {
  if (part.data !== undefined && part.data !== "") {
    return (
      <img className={className} src={`data:${part.media_type};base64,${part.data}`} alt={alt} />
    );
  }
  if (part.blob === undefined || part.blob === "") return null;
  return <Fetched key={part.blob} digest={part.blob} alt={alt} className={className} />;
}

interface FetchedProps {
  readonly digest: string;
  readonly alt: string;
  readonly className: string | undefined;
}

function Fetched({ digest, alt, className }: FetchedProps): ReactNode {
  const box = useRef<HTMLImageElement & HTMLSpanElement>(null);
  const [url, setUrl] = useState(() => pictureHere(digest));
  const [problem, setProblem] = useState("");
  const near = useNear(box);
  useEffect(() => {
    if (!near) return undefined;
    let over = false;
    const taken = takePicture(digest);
    taken.url.then(
      (found) => over || setUrl(found),
      (error: unknown) => over || setProblem(wordsOf(error)),
    );
    return () => {
      over = true;
      taken.giveBack();
    };
  }, [near, digest]);
  if (problem !== "") return <span>The picture could not be shown: {problem}.</span>;
  if (url !== "") return <img ref={box} className={className} src={url} alt={alt} />;
  const named = alt === "" ? {} : { role: "img", "aria-label": alt };
  return <span ref={box} className={className} {...named} />;
}

/** True from the first time on that it is near what is seen. */
function useNear(box: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (box.current === null) return undefined;
    const watch = new IntersectionObserver(
      (seen) => {
        if (seen.some((one) => one.isIntersecting)) setNear(true);
      },
      { rootMargin: MARGIN, scrollMargin: MARGIN } as IntersectionObserverInit,
    );
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [box]);
  return near;
}

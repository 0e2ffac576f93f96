/** Inline pieces as elements. */

import { Picture } from "../parts/picture.tsx";
import { MaybePath, WithPaths } from "./path-link.tsx";
import style from "./prose.module.css";
import type { Inline } from "./tree.ts";

export function Inlines({ inlines }: { inlines: readonly Inline[] }) {
  // oxlint-disable-next-line react/no-array-index-key -- pieces have no other name
  return inlines.map((one, at) => <Piece key={at} inline={one} />);
}

function Piece({ inline }: { inline: Inline }) {
  switch (inline.type) {
    case "text":
      return <WithPaths text={inline.text} />;
    case "code":
      return (
        <MaybePath target={inline.text}>
          <code className={style.code}>{inline.text}</code>
        </MaybePath>
      );
    case "strong":
      return (
        <strong>
          <Inlines inlines={inline.children} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines inlines={inline.children} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inlines inlines={inline.children} />
        </del>
      );
    case "link":
      return <Link href={inline.href} inlines={inline.children} />;
    case "image":
      return <img className={style.image} src={inline.src} alt={inline.alt} loading="lazy" />;
    case "blob-image":
      return <Picture className={style.image} part={{ blob: inline.digest }} alt={inline.alt} />;
    case "break":
      return <br />;
    default:
      return inline satisfies never;
  }
}

/** Where a link leads is told before it is followed: its words may say something else. */
function Link({ href, inlines }: { href: string; inlines: readonly Inline[] }) {
  if (href === "") return <Inlines inlines={inlines} />;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      <Inlines inlines={inlines} />
    </a>
  );
}

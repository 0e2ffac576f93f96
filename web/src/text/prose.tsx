/**
 * What an agent or a person wrote, as a page.
 *
 * While a text grows only its last block is drawn again. Blocks stand in groups from the start,
 * so that none is built anew when it is finished.
 */

import { memo, useState } from "react";
import { GrowingText } from "./growing.ts";
import { HeadingBase } from "./heading-base.tsx";
import { NodeView } from "./node-view.tsx";
import style from "./prose.module.css";
import type { Block } from "./tree.ts";

export interface ProseProps {
  /** The whole text so far. */
  readonly text: string;
  /** More of it will come. */
  readonly live?: boolean;
  /** The level of its first heading: 2 right below the page's h1. */
  readonly headingBase?: number;
}

export const Prose = memo(function Prose({ text, live = false, headingBase = 2 }: ProseProps) {
  const [growing] = useState(() => new GrowingText());
  const groups = growing.show(text, live);
  return (
    <HeadingBase value={headingBase}>
      <div className={style.prose}>
        {groups.map((blocks, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- its place is a group's name
          <Group key={at} blocks={blocks} asleep={live && at < groups.length - 1} />
        ))}
      </div>
    </HeadingBase>
  );
});

interface GroupProps {
  readonly blocks: readonly Block[];
  /** It is full and its text still grows below: off the screen the browser may leave it alone. */
  readonly asleep: boolean;
}

const Group = memo(function Group({ blocks, asleep }: GroupProps) {
  return (
    <div className={asleep ? style.asleep : style.group}>
      {blocks.map(({ key, node }) => (
        <NodeView key={key} node={node} />
      ))}
    </div>
  );
});

/** Nodes of a text as elements. */

import { type ReactNode, memo, useContext } from "react";
import { Code } from "./code.tsx";
import { wordsOf } from "./inline.ts";
import { Inlines } from "./inline-view.tsx";
import { HeadingBase } from "./heading-base.tsx";
import style from "./prose.module.css";
import type { Align, Heading, Inline, ListItem, Node } from "./tree.ts";

type Table = Extract<Node, { type: "table" }>;
type List = Extract<Node, { type: "list" }>;

/** A frozen node is the same object for ever, so it is drawn once. */
export const NodeView = memo(function NodeView({ node }: { node: Node }) {
  switch (node.type) {
    case "paragraph":
      return (
        <p>
          <Inlines inlines={node.inlines} />
        </p>
      );
    case "tight":
      return <Inlines inlines={node.inlines} />;
    case "heading":
      return <HeadingView heading={node} />;
    case "code":
      return <Code text={node.text} lang={node.lang} open={node.open} />;
    case "list":
      return <ListView list={node} />;
    case "quote":
      return (
        <blockquote>
          <Nodes nodes={node.nodes} />
        </blockquote>
      );
    case "table":
      return <TableView table={node} />;
    case "rule":
      return <hr />;
    case "plain":
      return <p className={style.plain}>{node.text}</p>;
    default:
      return node satisfies never;
  }
});

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  // oxlint-disable-next-line react/no-array-index-key -- inner nodes have no other name
  return nodes.map((one, at) => <NodeView key={at} node={one} />);
}

const TAGS = ["h1", "h2", "h3", "h4", "h5", "h6"] as const;

function HeadingView({ heading }: { heading: Heading }) {
  const base = useContext(HeadingBase);
  const className = style[`heading${Math.min(heading.depth, 4)}`];
  const words = <Inlines inlines={heading.inlines} />;
  if (heading.level === 0) return <p className={className}>{words}</p>;
  const Tag = TAGS[Math.min(base + heading.level - 2, 5)] ?? "h6";
  return <Tag className={className}>{words}</Tag>;
}

function ListView({ list }: { list: List }) {
  const items = list.items.map((one, at) => (
    // oxlint-disable-next-line react/no-array-index-key -- items have no other name
    <Item key={at} item={one} />
  ));
  if (list.start === null) return <ul>{items}</ul>;
  return <ol start={list.start}>{items}</ol>;
}

function Item({ item }: { item: ListItem }) {
  if (item.checked === null) {
    return (
      <li>
        <Nodes nodes={item.nodes} />
      </li>
    );
  }
  return (
    <li className={style.task}>
      <span className={style.tick} role="img" aria-label={item.checked ? "done" : "to do"}>
        {item.checked ? "\u2713" : ""}
      </span>
      <div>
        <Nodes nodes={item.nodes} />
      </div>
    </li>
  );
}

function TableView({ table }: { table: Table }) {
  const title = table.header.map(wordsOf).join(", ").slice(0, 80);
  return (
    <TableScroll label={`Table: ${title}`}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- cells have no other name
              <Cell key={at} as="th" align={table.align[at]} inlines={cell} />
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, place) => (
            // oxlint-disable-next-line react/no-array-index-key -- nor have rows
            <tr key={place}>
              {row.map((cell, at) => (
                // oxlint-disable-next-line react/no-array-index-key
                <Cell key={at} as="td" align={table.align[at]} inlines={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

/** What scrolls sideways must be reachable by keyboard. */
function TableScroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys scroll it
    <div className={style.table} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

interface CellProps {
  readonly as: "th" | "td";
  readonly align: Align | undefined;
  readonly inlines: readonly Inline[];
}

function Cell({ as, align, inlines }: CellProps) {
  const className = align === "right" ? style.right : align === "center" ? style.center : undefined;
  const words = <Inlines inlines={inlines} />;
  if (as === "td") return <td className={className}>{words}</td>;
  // A header without words would be announced as one.
  if (inlines.length === 0) return <td className={className}>{words}</td>;
  return (
    <th scope="col" className={className}>
      {words}
    </th>
  );
}

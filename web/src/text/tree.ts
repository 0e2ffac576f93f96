/** What a text becomes before it is shown: blocks of inline pieces, with nothing of the parser. */

export type Inline =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "strong" | "em" | "del"; readonly children: readonly Inline[] }
  | { readonly type: "link"; readonly href: string; readonly children: readonly Inline[] }
  /** A picture of its own (`src`, a data: address), or one of the gateway's blobs. */
  | { readonly type: "image"; readonly src: string; readonly alt: string }
  | { readonly type: "blob-image"; readonly digest: string; readonly alt: string }
  | { readonly type: "break" };

export type Align = "left" | "center" | "right" | null;

export interface ListItem {
  /** A task's tick; null: the item is no task. */
  readonly checked: boolean | null;
  readonly nodes: readonly Node[];
}

export interface Heading {
  readonly type: "heading";
  /** As it is written: the number of its signs. */
  readonly depth: number;
  /** As it is read out: never more than one below the heading before it; 0: inside a quote or list. */
  readonly level: number;
  readonly inlines: readonly Inline[];
}

export type Node =
  | { readonly type: "paragraph" | "tight"; readonly inlines: readonly Inline[] }
  | Heading
  /** `open`: the fence has not ended yet, so its last line may grow. */
  | { readonly type: "code"; readonly lang: string; readonly text: string; readonly open: boolean }
  | { readonly type: "list"; readonly start: number | null; readonly items: readonly ListItem[] }
  | { readonly type: "quote"; readonly nodes: readonly Node[] }
  | {
      readonly type: "table";
      readonly align: readonly Align[];
      readonly header: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly type: "rule" }
  /** Text that is too long or too deep to be taken apart. */
  | { readonly type: "plain"; readonly text: string };

/** A node at the top of a text. Its key is its place, which it keeps while the text grows. */
export interface Block {
  readonly key: number;
  readonly node: Node;
}

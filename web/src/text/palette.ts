/**
 * The kinds of words in code, and which words are of which kind.
 *
 * The theme's colours are numbers in disguise: a token's colour is the place of its kind in
 * `KINDS`, and the page draws it with a class. So no colour is ever written into the page.
 */

export const KINDS = [
  "plain",
  "comment",
  "keyword",
  "string",
  "constant",
  "function",
  "type",
  "property",
  "tag",
  "inserted",
  "deleted",
  "heading",
] as const;

export type Kind = (typeof KINDS)[number];

const SCOPES: readonly (readonly [Kind, readonly string[]])[] = [
  ["comment", ["comment", "punctuation.definition.comment"]],
  ["keyword", ["keyword", "storage", "keyword.operator.new", "variable.language"]],
  ["plain", ["keyword.operator", "storage.modifier.import.java", "storage.type.java"]],
  ["string", ["string", "punctuation.definition.string", "string.regexp", "markup.inline.raw"]],
  ["constant", ["constant", "support.constant", "constant.character.escape"]],
  ["plain", ["punctuation.definition.template-expression", "meta.embedded", "string.unquoted"]],
  ["function", ["entity.name.function", "support.function", "meta.function-call.generic"]],
  ["type", ["entity.name.type", "entity.name.class", "support.type", "support.class"]],
  ["type", ["entity.other.inherited-class", "entity.name.namespace"]],
  [
    "property",
    ["support.type.property-name", "entity.other.attribute-name", "entity.name.tag.yaml"],
  ],
  ["property", ["keyword.other.definition.ini", "variable.other.normal.shell"]],
  ["tag", ["entity.name.tag"]],
  ["inserted", ["markup.inserted"]],
  ["deleted", ["markup.deleted"]],
  ["heading", ["markup.heading", "entity.name.section", "meta.diff.range"]],
];

export const THEME = {
  name: "kinds",
  type: "dark" as const,
  fg: colourOf("plain"),
  bg: "#ffffff",
  settings: SCOPES.map(([kind, scope]) => ({
    scope: [...scope],
    settings: { foreground: colourOf(kind) },
  })),
};

function colourOf(kind: Kind): string {
  return `#${(KINDS.indexOf(kind) + 1).toString(16).padStart(6, "0")}`;
}

/** The place in `KINDS` that a token's colour stands for. */
export function kindOf(colour: string | undefined): number {
  const place = parseInt(colour?.slice(1) ?? "", 16) - 1;
  return place > 0 && place < KINDS.length ? place : 0;
}

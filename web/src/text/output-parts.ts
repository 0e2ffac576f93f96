/** A very long output, cut into parts that can be drawn one without the others. */

export interface OutputPart {
  readonly text: string;
  /** Sequences that set the colours it begins with. */
  readonly colours: string;
  readonly rows: number;
  /** It has a line so long that it is broken to be seen. */
  readonly wide: boolean;
}

/** Letters of a part, as far as its lines allow. */
const PART = 16 * 1024;
/** A longer line is broken instead of scrolled to. */
const WIDE = 2000;
/** Letters of a broken line in a row, for a guess at its height. */
const ROW = 90;
/** Returns in one line that are carried out; those before them were overwritten anyway. */
const RETURNS = 64;
// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[([0-9;:]*)m/g;

export function partsOf(text: string): readonly OutputPart[] {
  const parts: OutputPart[] = [];
  let colours = "";
  for (const piece of cut(text.replaceAll("\r\n", "\n").replace(/\n$/, ""))) {
    parts.push({ text: piece, colours, ...shapeOf(piece) });
    colours = coloursAfter(colours, piece);
  }
  return parts;
}

/** Pieces that end with a line where there is one; the line end between two pieces is dropped. */
function cut(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > PART) {
    const within = text.lastIndexOf("\n", from + PART);
    const next = within > from ? within : text.indexOf("\n", from + PART);
    const end = next < 0 ? text.length : next;
    const piece = text.slice(from, end);
    if (within > from || end - from <= PART) pieces.push(piece);
    else pieces.push(...broken(piece));
    from = end + 1;
  }
  if (from <= text.length) pieces.push(text.slice(from));
  return pieces;
}

/** One line that is longer than a part. */
function broken(line: string): readonly string[] {
  const seen = line.includes("\r") ? line.split("\r").slice(-RETURNS).join("\r") : line;
  if (seen.includes("\r")) return [seen];
  const count = Math.ceil(seen.length / PART);
  return Array.from({ length: count }, (_, at) => seen.slice(at * PART, (at + 1) * PART));
}

/** It has a line that nobody would scroll along. */
export function isWide(text: string): boolean {
  return text.length > WIDE && text.split("\n").some((one) => one.length > WIDE);
}

function shapeOf(piece: string): Pick<OutputPart, "rows" | "wide"> {
  const lines = piece.split("\n");
  const wide = isWide(piece);
  const rows = wide ? lines.reduce((sum, one) => sum + Math.ceil((one.length || 1) / ROW), 0) : 0;
  return { rows: rows || lines.length, wide };
}

function coloursAfter(before: string, piece: string): string {
  if (!piece.includes("\u001b")) return before;
  let colours = before;
  for (const [sequence, codes = ""] of piece.matchAll(COLOUR)) {
    const fresh = codes === "" || codes === "0";
    colours = fresh ? "" : codes.startsWith("0;") ? sequence : colours + sequence;
    if (colours.length > PART) colours = sequence;
  }
  return colours;
}

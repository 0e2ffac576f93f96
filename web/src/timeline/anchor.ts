/**
 * What somebody reads, and where on the screen it stands: so that it can be put there again after
 * something above it has come, gone or changed its size.
 */
export interface Anchor {
  readonly id: string;
  readonly element: Element;
  readonly top: number;
}

/** Before the name of a line that stands for several items: it is that of the first of them. */
export const GROUP = "group:";

const ENTRY = "[data-entry]";
/** Lines that are remembered: the first of them may be folded away with what comes. */
const MOST = 8;

/** The line at the upper edge, the innermost one of nested ones. */
export function anchorIn(box: HTMLElement): Anchor | undefined {
  return anchorsIn(box, 1)[0];
}

/** The lines that are seen, from the upper edge on. */
export function anchorsIn(box: HTMLElement, most = MOST): readonly Anchor[] {
  const edge = box.getBoundingClientRect().top;
  const found: Anchor[] = [];
  for (const element of box.querySelectorAll<HTMLElement>(ENTRY)) {
    const place = element.getBoundingClientRect();
    if (place.bottom <= edge) continue;
    const one = { id: element.dataset["entry"] ?? "", element, top: place.top };
    // what is inside says it better than what is around it
    const outer = found[found.length - 1];
    if (outer !== undefined && outer.element.contains(element)) found[found.length - 1] = one;
    else if (found.length === most) break;
    else found.push(one);
  }
  return found;
}

/** How far it is from where it was. `aboveOf` names the call that an item belongs to. */
export function drift(
  box: HTMLElement,
  anchors: readonly Anchor[],
  aboveOf: (id: string) => string,
): number {
  for (const { id, element, top } of anchors) {
    const now = element.isConnected ? element : shown(box, id, aboveOf);
    if (now !== undefined) return now.getBoundingClientRect().top - top;
  }
  return 0;
}

/** Where an item stands now: alone, folded with others, or in what its sub-agent did. */
function shown(box: HTMLElement, id: string, aboveOf: (id: string) => string): Element | undefined {
  const item = id.startsWith(GROUP) ? id.slice(GROUP.length) : id;
  for (let one = item, step = 0; one !== "" && step < MOST; one = aboveOf(one), step += 1) {
    const name = CSS.escape(one);
    const found =
      box.querySelector(`[data-entry="${name}"]`) ?? box.querySelector(`[data-members~="${name}"]`);
    if (found !== null) return found;
  }
  return undefined;
}

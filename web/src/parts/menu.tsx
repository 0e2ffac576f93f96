import {
  Fragment,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from "react";
import style from "./menu.module.css";

export interface Choice {
  readonly label: string;
  readonly run: () => void;
  /** It cannot be undone. */
  readonly danger?: boolean;
  /** A line stands above it: something else begins here. */
  readonly apart?: boolean;
}

interface Props {
  readonly label: string;
  /** What it was opened with: it hangs there, and the focus goes back there. */
  readonly anchor: RefObject<HTMLElement | null>;
  readonly choices: readonly Choice[];
  readonly onClose: () => void;
}

const GAP_PX = 4;

/**
 * A few things to choose from, on top of everything. It stays where it is in the document, inside
 * of the landmark or dialog it belongs to. Arrows, Home, End and first letters move in it; Escape,
 * Tab and whatever is done elsewhere close it.
 *
 * Not Base UI's: what that puts around a menu to hold the focus is hidden and can have the focus,
 * which axe calls serious, and rightly.
 */
export function Menu({ label, anchor, choices, onClose }: Props): ReactNode {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const one = menu.current;
    if (one === null) return;
    one.showPopover();
    hang(one, anchor.current);
    itemsOf(one)[0]?.focus();
  }, [anchor]);
  useElsewhere(menu, anchor, onClose);
  const back = (): void => {
    anchor.current?.focus();
    onClose();
  };
  const moved = (event: KeyboardEvent): void => {
    event.stopPropagation(); // neither the list below nor the session hears it
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      back();
      return;
    }
    const to = nextOf(itemsOf(menu.current), event.key);
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <div
      ref={menu}
      popover="manual"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      className={style.menu}
      onKeyDown={moved}
    >
      {choices.map((one) => (
        <Fragment key={one.label}>
          {one.apart === true && <hr className={style.line} />}
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={one.danger === true ? style.danger : style.item}
            onPointerMove={(event) => event.currentTarget.focus({ preventScroll: true })}
            onClick={() => {
              back(); // first, so that a dialog that opens now knows where to give the focus back
              one.run();
            }}
          >
            {one.label}
          </button>
        </Fragment>
      ))}
    </div>
  );
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
}

/** Where a key leads to, round and round. */
function nextOf(items: readonly HTMLElement[], key: string): HTMLElement | undefined {
  const at = items.findIndex((one) => one === document.activeElement);
  switch (key) {
    case "ArrowDown":
      return items[(at + 1) % items.length];
    case "ArrowUp":
      return items.at(at <= 0 ? -1 : at - 1);
    case "Home":
      return items[0];
    case "End":
      return items.at(-1);
    default: {
      if (key.length !== 1 || key === " ") return undefined;
      const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      return after.find((one) => one.textContent.toLowerCase().startsWith(key.toLowerCase()));
    }
  }
}

/** Below its anchor where there is room, above it where there is none. */
function hang(menu: HTMLElement, anchor: HTMLElement | null): void {
  if (anchor === null) return;
  const from = anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = from.bottom + GAP_PX;
  const top = below + height > innerHeight ? from.top - GAP_PX - height : below;
  menu.style.top = `${Math.max(GAP_PX, top)}px`;
  menu.style.left = `${Math.max(GAP_PX, from.right - width)}px`;
}

/** A press outside, or a list that scrolls away below it, closes a menu. */
function useElsewhere(
  menu: RefObject<HTMLElement | null>,
  anchor: RefObject<HTMLElement | null>,
  onClose: () => void,
): void {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const elsewhere = (event: Event): void => {
      const at = event.target instanceof Node ? event.target : null;
      // a press on its anchor closes it as well, by the anchor itself
      if (menu.current?.contains(at) !== true && anchor.current?.contains(at) !== true)
        close.current();
    };
    const gone = new AbortController();
    const how = { capture: true, signal: gone.signal };
    for (const name of ["pointerdown", "scroll", "focusin"])
      document.addEventListener(name, elsewhere, how);
    addEventListener("resize", elsewhere, how);
    return () => gone.abort();
  }, [menu, anchor]);
}

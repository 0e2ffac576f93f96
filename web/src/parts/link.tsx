import type { ComponentProps, MouseEvent, ReactNode } from "react";
import { type Route, hrefOf, navigate } from "../routes.ts";

interface Props extends ComponentProps<"a"> {
  readonly to: Route;
}

/** A way to another view: an address that can be copied and opened elsewhere. */
export function Link({ to, onClick, children, ...rest }: Props): ReactNode {
  const go = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (event.defaultPrevented || !plain) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={hrefOf(to)} onClick={go} {...rest}>
      {children}
    </a>
  );
}

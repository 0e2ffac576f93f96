import type { ReactNode } from "react";

interface Props {
  /** What is in it: it is a place one can go to. */
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A part that scrolls by itself, for the keyboard too. */
export function Scroll({ label, className, children }: Props): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- nothing else in it may take the focus
    <div className={className} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

import type { ComponentProps, ReactNode } from "react";
import style from "./button.module.css";

interface Props extends ComponentProps<"button"> {
  /** `main`: the one thing to do here. `quiet`: no edge until it is pointed at. */
  readonly look?: "main" | "plain" | "quiet" | "danger";
  readonly icon?: ReactNode;
}

/** A button says what it does in words; one that shows only an icon needs an aria-label. */
export function Button({
  look = "plain",
  icon,
  children,
  className,
  type,
  ...rest
}: Props): ReactNode {
  const names = [style.button, style[look], className].filter(Boolean).join(" ");
  return (
    <button type={type ?? "button"} className={names} {...rest}>
      {icon}
      {children}
    </button>
  );
}

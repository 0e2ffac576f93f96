import type { ReactNode } from "react";
import { ChevronDown } from "lucide-react";
import style from "./choice.module.css";

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

interface Props {
  readonly label: string;
  readonly value: string;
  /** What is shown while it is closed, where that is not the option's own label. */
  readonly shown?: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
  readonly disabled?: boolean;
  readonly title?: string;
  readonly className?: string | undefined;
}

/** One of a few, small and without an edge. It is the browser's own list: it works everywhere. */
export function Choice({
  label,
  value,
  shown,
  options,
  onChange,
  disabled = false,
  title,
  className = "",
}: Props): ReactNode {
  return (
    <span className={`${style.choice} ${className}`} data-disabled={disabled || undefined}>
      <span className={style.shown} aria-hidden="true">
        {shown ?? options.find((one) => one.value === value)?.label ?? value}
      </span>
      <ChevronDown aria-hidden="true" />
      <select
        aria-label={label}
        title={title ?? label}
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map((one) => (
          <option key={one.value} value={one.value} disabled={one.disabled}>
            {one.label}
          </option>
        ))}
      </select>
    </span>
  );
}

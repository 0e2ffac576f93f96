import type { ReactNode } from "react";
import { ChevronRight } from "lucide-react";
import style from "./disclosure.module.css";
import { useOpened } from "./opened.ts";

interface Props {
  /** Names what is opened, so that it stays open. */
  readonly id: string;
  readonly title: ReactNode;
  readonly open?: boolean;
  /** What opens begins below the arrow: for what may be nested deeply. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

/** One line that opens in place. What is folded away is not drawn at all. */
export function Disclosure({ id, title, open = false, flush = false, children }: Props): ReactNode {
  const [opened, set] = useOpened(id, open);
  return (
    <div className={style.disclosure}>
      <button
        type="button"
        className={style.title}
        aria-expanded={opened}
        onClick={() => set(!opened)}
      >
        <ChevronRight className={style.arrow} aria-hidden="true" />
        {title}
      </button>
      {opened && <div className={flush ? style.flush : style.body}>{children}</div>}
    </div>
  );
}

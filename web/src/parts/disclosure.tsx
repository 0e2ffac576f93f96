import type { ReactNode } from "react";
import { ChevronRight } from "lucide-react";
import style from "./disclosure.module.css";
import { useOpened } from "./opened.ts";

interface Props {
  /** Names what is opened, so that it stays open. */
  readonly id: string;
  readonly title: ReactNode;
  readonly open?: boolean;
  readonly children: ReactNode;
}

/** One line that opens in place. What is folded away is not drawn at all. */
export function Disclosure({ id, title, open = false, children }: Props): ReactNode {
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
      {opened && <div className={style.body}>{children}</div>}
    </div>
  );
}

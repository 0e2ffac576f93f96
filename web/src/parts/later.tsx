import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { useApp, useKey } from "./use-store.ts";
import style from "./later.module.css";

interface Failing {
  /** For what lies on top: it is closed when it could not be fetched. */
  readonly onFail?: () => void;
}

/**
 * A part of the page that is fetched when it is first wanted. Without a connection that fails, and
 * after an upgrade of the gateway: then it says so, where a failed `React.lazy` would take the whole
 * page down. A browser does not fetch again what failed once, so the way out is to reload.
 */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
): ComponentType<P & Failing> {
  let known: ComponentType<P> | undefined;
  return function Later(props: P & Failing): ReactNode {
    const app = useApp();
    const [Shown, setShown] = useState(() => known);
    const [failed, setFailed] = useState(false);
    const { onFail } = props;
    useEffect(() => {
      if (known !== undefined) return;
      let over = false;
      load().then(
        (found) => {
          known = found;
          if (!over) setShown(() => found);
        },
        () => {
          if (over) return;
          setFailed(true);
          onFail?.();
          void app.checkPage().then((stale) => {
            // the whole page is old: that is said above it, once
            if (onFail === undefined || stale) return;
            app.ui.toast(WORDS, "error", { label: "Reload", run: reload });
          });
        },
      );
      return () => {
        over = true;
      };
    }, [app, onFail]);
    if (Shown !== undefined) return <Shown {...props} />;
    return failed && onFail === undefined ? <Failed /> : null;
  };
}

const WORDS = "This part of the page could not be loaded.";

function reload(): void {
  location.reload();
}

function Failed(): ReactNode {
  const app = useApp();
  const stale = useKey(app.emitter, "stale", () => app.stale);
  return (
    <div className={style.failed}>
      <h1>{WORDS}</h1>
      {/* a page that is old as a whole has its button above */}
      {!stale && <Button onClick={reload}>Reload</Button>}
    </div>
  );
}

import { type ReactNode, useEffect, useRef } from "react";
import { LayoutGrid, MessageSquare, PanelRight } from "lucide-react";
import { Link } from "./parts/link.tsx";
import { useApp, useKey, useRows } from "./parts/use-store.ts";
import { navigate, useRoute } from "./routes.ts";
import { waitingCount } from "./store/grouping.ts";
import style from "./bottom-bar.module.css";

/** On a phone: the three places, within reach of a thumb. */
export function BottomBar(): ReactNode {
  const app = useApp();
  const route = useRoute();
  const drawer = useKey(app.ui.emitter, "drawer", () => app.ui.drawer);
  const waiting = waitingCount(useRows());
  const last = useRef("");
  const here = route.view === "session" ? route.session : "";
  useEffect(() => {
    if (here !== "") last.current = here;
  }, [here]);
  const session = (): void => {
    app.ui.slide("");
    if (here !== "") return;
    if (last.current === "") app.ui.slide("rail");
    else navigate({ view: "session", session: last.current });
  };
  return (
    <nav className={style.bar} aria-label="Places">
      <Link
        to={{ view: "board" }}
        className={style.place}
        aria-current={route.view === "board" ? "page" : undefined}
        onClick={() => app.ui.slide("")}
      >
        <LayoutGrid aria-hidden="true" />
        <span>
          Board{" "}
          {waiting > 0 && (
            <span className={style.count}>
              {waiting}
              <span className="said"> waiting</span>
            </span>
          )}
        </span>
      </Link>
      <button
        type="button"
        className={style.place}
        aria-current={here !== "" && drawer === "" ? "page" : undefined}
        onClick={session}
      >
        <MessageSquare aria-hidden="true" />
        Session
      </button>
      <button
        type="button"
        className={style.place}
        disabled={here === ""}
        aria-expanded={drawer === "inspector"}
        onClick={() => app.ui.slide(drawer === "inspector" ? "" : "inspector")}
      >
        <PanelRight aria-hidden="true" />
        Inspector
      </button>
    </nav>
  );
}

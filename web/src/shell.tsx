import { type ComponentType, type ReactNode, Suspense, lazy, useEffect } from "react";
import { Board } from "./board/board.tsx";
import { BottomBar } from "./bottom-bar.tsx";
import { useKeys } from "./panels/use-keys.ts";
import { Notify } from "./notify/notify.tsx";
import { Modal } from "./parts/modal.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { NARROW, useMedia } from "./parts/use-media.ts";
import { useApp, useKey, useSettings } from "./parts/use-store.ts";
import { act, useAct } from "./rail/acting.ts";
import { Rail } from "./rail/rail.tsx";
import { type Route, navigate, useRoute } from "./routes.ts";
import { SessionPage } from "./session-page.tsx";
import { basePath } from "./link/base.ts";
import { ConnectionBanner } from "./status/connection.tsx";
import type { Panel } from "./store/ui.ts";
import style from "./shell.module.css";

// what is not on the first screen comes when it is wanted
const Acts = lazy(() => import("./rail/acts.tsx").then((one) => ({ default: one.Acts })));
const HistoryPage = lazy(() =>
  import("./history/history.tsx").then((one) => ({ default: one.HistoryPage })),
);
const Access = lazy(() => import("./access/access.tsx").then((one) => ({ default: one.Access })));
const Devices = lazy(() =>
  import("./devices/devices.tsx").then((one) => ({ default: one.Devices })),
);
const PANELS: Partial<Record<Panel, ComponentType>> = {
  palette: lazy(() => import("./panels/palette.tsx").then((one) => ({ default: one.Palette }))),
  help: lazy(() => import("./panels/help.tsx").then((one) => ({ default: one.Help }))),
  keys: lazy(() => import("./panels/keys.tsx").then((one) => ({ default: one.Keys }))),
  settings: lazy(() =>
    import("./panels/settings.tsx").then((one) => ({ default: one.SettingsPanel })),
  ),
  "new-session": lazy(() =>
    import("./panels/new-session.tsx").then((one) => ({ default: one.NewSession })),
  ),
};

/** The frame around every view: the rail of sessions, the view, and what lies on top of both. */
export function Shell(): ReactNode {
  const route = useRoute();
  const narrow = useMedia(NARROW);
  useLooks();
  usePanelAddress(route);
  useKeys(route);
  return (
    <div className={style.shell}>
      <a className={style.skip} href="#main">
        Skip to the session
      </a>
      {narrow ? (
        <RailDrawer />
      ) : (
        <nav className={style.rail} aria-label="Sessions">
          <Rail />
        </nav>
      )}
      <main id="main" className={style.main} tabIndex={-1}>
        <ConnectionBanner />
        <Suspense fallback={<p className={style.loading}>Loading</p>}>
          <View route={route} />
        </Suspense>
      </main>
      {narrow && <BottomBar />}
      <OnTop route={route} />
      <Toasts />
      <Notify />
    </div>
  );
}

function View({ route }: { readonly route: Route }): ReactNode {
  switch (route.view) {
    case "session":
      return <SessionPage key={route.session} session={route.session} />;
    case "history":
      return <HistoryPage />;
    case "access":
      return <Access />;
    case "devices":
      return <Devices />;
    default:
      return <Board />;
  }
}

/** On a narrow screen the rail slides over the view. */
function RailDrawer(): ReactNode {
  const { ui } = useApp();
  const drawer = useKey(ui.emitter, "drawer", () => ui.drawer);
  if (drawer !== "rail") return null;
  return (
    <Modal title="Sessions" look="drawerStart" onClose={() => ui.slide("")}>
      <nav className={style.inside} aria-label="Sessions">
        <Rail />
      </nav>
    </Modal>
  );
}

function OnTop({ route }: { readonly route: Route }): ReactNode {
  const { ui } = useApp();
  const panel = useKey(ui.emitter, "panel", () => ui.panel);
  const asked = useAct();
  const session = route.view === "session" ? route.session : "";
  // the palette asks for these two by name: they are about the session on the screen
  useEffect(() => {
    if (panel !== "rename" && panel !== "export") return;
    ui.show("");
    if (session !== "") act({ what: panel, session });
  }, [ui, panel, session]);
  const Shown = PANELS[panel];
  return (
    <Suspense>
      {Shown !== undefined && <Shown />}
      {asked !== undefined && <Acts {...asked} />}
    </Suspense>
  );
}

/** Theme and density are the page's own; the gateway writes the theme into the next page it sends. */
function useLooks(): void {
  const { theme, contrast, density } = useSettings();
  useEffect(() => {
    const { dataset } = document.documentElement;
    dataset["theme"] = theme === "system" ? "" : theme;
    dataset["contrast"] = contrast;
    dataset["density"] = density;
    const kept = theme === "system" ? "max-age=0" : "max-age=31536000";
    document.cookie = `flybridge-theme=${theme}; path=${basePath() || "/"}; ${kept}; samesite=strict`;
  }, [theme, contrast, density]);
}

/** Some panels have an address: it opens them over the board. */
function usePanelAddress(route: Route): void {
  const { ui } = useApp();
  const panel = route.view === "panel" ? route.panel : undefined;
  useEffect(() => {
    if (panel === undefined) return;
    ui.show(panel);
    navigate({ view: "board" }, true);
  }, [ui, panel]);
}

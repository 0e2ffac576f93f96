import { type ComponentType, type ReactNode, useCallback, useEffect, useRef } from "react";
import { Board } from "./board/board.tsx";
import { BottomBar } from "./bottom-bar.tsx";
import { useKeys } from "./panels/use-keys.ts";
import { Notify } from "./notify/notify.tsx";
import { Caught } from "./parts/caught.tsx";
import { later } from "./parts/later.tsx";
import { useLooks } from "./parts/looks.ts";
import { Modal } from "./parts/modal.tsx";
import { focusView } from "./parts/nobody.ts";
import { Toasts } from "./parts/toasts.tsx";
import { NARROW, useMedia } from "./parts/use-media.ts";
import { useApp, useKey } from "./parts/use-store.ts";
import { act, useAct } from "./rail/acting.ts";
import { Rail } from "./rail/rail.tsx";
import { type Route, navigate, pathOf, useRoute } from "./routes.ts";
import { SessionPage } from "./session-page.tsx";
import { Alarms } from "./status/alarms.tsx";
import { ConnectionBanner } from "./status/connection.tsx";
import type { Panel } from "./store/ui.ts";
import style from "./shell.module.css";

// what is not on the first screen comes when it is wanted
const Acts = later(() => import("./rail/acts.tsx").then((one) => one.Acts));
const HistoryPage = later(() => import("./history/history.tsx").then((one) => one.HistoryPage));
const Access = later(() => import("./access/access.tsx").then((one) => one.Access));
const Devices = later(() => import("./devices/devices.tsx").then((one) => one.Devices));
const PANELS: Partial<Record<Panel, ComponentType<{ onFail?: () => void }>>> = {
  palette: later(() => import("./panels/palette.tsx").then((one) => one.Palette)),
  help: later(() => import("./panels/help.tsx").then((one) => one.Help)),
  keys: later(() => import("./panels/keys.tsx").then((one) => one.Keys)),
  settings: later(() => import("./panels/settings.tsx").then((one) => one.SettingsPanel)),
  "new-session": later(() => import("./panels/new-session.tsx").then((one) => one.NewSession)),
};

/** The frame around every view: the rail of sessions, the view, and what lies on top of both. */
export function Shell(): ReactNode {
  const route = useRoute();
  const narrow = useMedia(NARROW);
  useLooks();
  usePanelAddress(route);
  useFocusInView(pathOf(route));
  useKeys(route);
  usePaletteSoon();
  return (
    <div className={style.shell}>
      <a className={style.skip} href="#main">
        Skip to the content
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
        <Alarms />
        <Caught key={pathOf(route)}>
          <View route={route} />
        </Caught>
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

function unask(): void {
  act(undefined);
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
  const close = useCallback(() => ui.show(""), [ui]);
  const Shown = PANELS[panel];
  return (
    <>
      {Shown !== undefined && <Shown key={panel} onFail={close} />}
      {asked !== undefined && <Acts {...asked} onFail={unask} />}
    </>
  );
}

/**
 * What is looked for is typed in one go with the keys that open the palette: fetched only then, it
 * would leave the first letters to whatever has the focus.
 */
function usePaletteSoon(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      import("./panels/palette.tsx").catch(() => {}); // it is fetched when it is opened, then
    }, 1500);
    return () => clearTimeout(timer);
  }, []);
}

/** A link that leads away goes with its view. Whoever comes to the page anew begins at its top. */
function useFocusInView(path: string): void {
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current !== path) focusView();
    shown.current = path;
  }, [path]);
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

import { own } from "./store/values.ts";
import { type ReactNode, useEffect } from "react";
import { Composer } from "./composer/composer.tsx";
import { useEscape } from "./composer/use-escape.ts";
import { Dock } from "./dock/dock.tsx";
import { Inspector } from "./inspector/inspector.tsx";
import { Link } from "./parts/link.tsx";
import { Modal } from "./parts/modal.tsx";
import { WIDE, useMedia } from "./parts/use-media.ts";
import { useApp, useKey, useSettings } from "./parts/use-store.ts";
import { Syncing } from "./status/connection.tsx";
import { Header } from "./status/header.tsx";
import { OldAgent } from "./status/old-agent.tsx";
import { Timeline } from "./timeline/timeline.tsx";
import type { SessionStore } from "./store/session.ts";
import style from "./session-page.module.css";

/** One session: what was said, what it asks, and where to speak; beside it what it is about. */
export function SessionPage({ session }: { readonly session: string }): ReactNode {
  const app = useApp();
  useEffect(() => app.following.follow(session), [app, session]);
  const store = app.session(session);
  useEscape(store);
  const refused = useKey(store.emitter, "synced", () => store.refused);
  if (refused !== "") return <NotThere code={refused} />;
  return (
    <div className={style.page}>
      <div className={style.header}>
        <Header store={store} />
        <Syncing store={store} />
        <OldAgent store={store} />
      </div>
      <div className={style.talk}>
        <Timeline store={store} />
        <div className={style.foot}>
          <Dock store={store} />
          <Composer store={store} />
        </div>
      </div>
      <Side store={store} />
    </div>
  );
}

/** Beside the transcript where there is room, over it where there is none. */
function Side({ store }: { readonly store: SessionStore }): ReactNode {
  const { ui } = useApp();
  const wide = useMedia(WIDE);
  const { inspector } = useSettings();
  const drawer = useKey(ui.emitter, "drawer", () => ui.drawer);
  if (wide) {
    if (!inspector) return null;
    return (
      <div className={style.side}>
        <Inspector store={store} />
      </div>
    );
  }
  if (drawer !== "inspector") return null;
  return (
    <Modal title="Inspector" look="drawerEnd" onClose={() => ui.slide("")}>
      <Inspector store={store} />
    </Modal>
  );
}

const WHY: Readonly<Record<string, string>> = {
  session_not_found: "There is no such session, or it was deleted.",
  not_allowed: "This login may not look at it.",
  storage_failed: "Its log cannot be read now.",
};

function NotThere({ code }: { readonly code: string }): ReactNode {
  return (
    <div className={style.missing}>
      <h1>This session is not here</h1>
      <p>{own(WHY, code) ?? `The gateway does not show it (${code}).`}</p>
      <p>
        <Link to={{ view: "board" }}>All sessions</Link>
        {" · "}
        <Link to={{ view: "history" }}>Conversations on this machine</Link>
      </p>
    </div>
  );
}

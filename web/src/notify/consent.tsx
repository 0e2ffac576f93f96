import { type ReactNode, useState } from "react";
import { Button } from "../parts/button.tsx";
import { useApp, useSettings } from "../parts/use-store.ts";
import style from "./consent.module.css";

const KEY = "flybridge.asked-to-notify";

/** Asked when it first matters: something waits, and next time nobody may be looking. */
export function Consent({ waiting }: { readonly waiting: number }): ReactNode {
  const app = useApp();
  const { notifications } = useSettings();
  const [asked, setAsked] = useState(() => wasAsked());
  const possible = "Notification" in window && Notification.permission === "default";
  if (asked || notifications || !possible || waiting === 0) return null;
  const over = (): void => {
    setAsked(true);
    remember();
  };
  const allow = async (): Promise<void> => {
    over();
    const answer = await Notification.requestPermission();
    app.settings.set({ notifications: answer === "granted" });
    if (answer === "granted") app.ui.toast("You will be told when a session needs you.");
  };
  return (
    <section className={style.consent} aria-label="Notifications">
      <p>Be told when a session needs you and you look elsewhere?</p>
      <div>
        <Button onClick={() => void allow()}>Tell me</Button>
        <Button look="quiet" onClick={over}>
          Not now
        </Button>
      </div>
    </section>
  );
}

function wasAsked(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return true;
  }
}

function remember(): void {
  try {
    localStorage.setItem(KEY, "yes");
  } catch {
    // it will be asked again; that is all
  }
}

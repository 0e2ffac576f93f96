import { type ReactNode, useEffect, useState } from "react";
import { Square } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { useApp, useView } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";

/** An agent that listens stops well within this; one that does not needs more than words. */
const PATIENCE_MS = 5000;

/** Stops the turn that runs. If it does not stop, ending the agent's process is offered. */
export function Stop({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const view = useView(store);
  const running = view?.status === "running";
  const turn = view?.turn ?? "";
  // of which turn that was asked, and found not to help; undefined: of none
  const [asked, setAsked] = useState<string>();
  const [stubborn, setStubborn] = useState<string>();
  const stopping = running && asked === turn;
  useEffect(() => {
    if (!stopping) return undefined;
    const timer = setTimeout(() => setStubborn(turn), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [stopping, turn]);
  if (!running || !app.may("interrupt")) return null;
  const stop = async (): Promise<void> => {
    setAsked(turn);
    if (!(await app.attempt(store.session, { type: "interrupt", turn }))) setAsked(undefined);
  };
  if (stopping && stubborn === turn) {
    return (
      <Button
        look="danger"
        title="The turn does not stop. This ends the agent's process; the conversation stays."
        onClick={() => void app.attempt(store.session, { type: "interrupt", hard: true })}
      >
        End the agent
      </Button>
    );
  }
  return (
    <Button
      icon={<Square aria-hidden="true" fill="currentColor" />}
      aria-disabled={stopping}
      title="Stop this turn (Escape)"
      onClick={() => {
        if (!stopping) void stop();
      }}
    >
      {stopping ? "Stopping" : "Stop"}
    </Button>
  );
}

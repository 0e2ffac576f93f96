import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway, recorded } from "../../tests/fake-gateway.ts";
import { pageApp } from "../../tests/started.ts";
import { onSay } from "../notify/say.ts";
import { AppContext } from "../parts/use-store.ts";
import type { App } from "../store/app.ts";
import { ConnectionBanner, ConnectionState, Syncing } from "./connection.tsx";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function shown(): { app: App; gateway: FakeGateway; session: string } {
  const lines = recorded("talk");
  const gateway = new FakeGateway(lines);
  const session = lines[0]?.session ?? "";
  const app = pageApp(gateway);
  app.start();
  act(() => gateway.accept());
  render(
    <AppContext value={app}>
      <ConnectionBanner />
      <ConnectionState />
      <Syncing store={app.session(session)} />
    </AppContext>,
  );
  return { app, gateway, session };
}

test("nothing is said while all is well, and a loss within half a second", () => {
  const said: string[] = [];
  const stop = onSay((text, urgency) => said.push(`${urgency}: ${text}`));
  const { app, gateway } = shown();
  expect(screen.queryByText(/Reconnecting/)).toBeNull();
  expect(screen.getByText("Connected")).toBeTruthy();
  act(() => gateway.cut());
  expect(screen.getByText("Reconnecting")).toBeTruthy();
  act(() => vi.advanceTimersByTime(240)); // less than it takes to try again
  expect(screen.getByText(/Reconnecting\. What you send is kept/)).toBeTruthy();
  expect(said).toEqual(["assertive: The connection is lost."]);
  act(() => screen.getByText("Try now").click());
  act(() => gateway.accept());
  expect(screen.queryByText(/Reconnecting/)).toBeNull();
  stop();
  app.stop();
});

test("a forwarded connection with less than its login is told so at the top", () => {
  const { app } = shown();
  expect(screen.queryByText(/is forwarded/)).toBeNull();
  const reason = "This connection is forwarded (SSH or a proxy).";
  act(() => {
    if (app.welcome !== undefined) app.welcome = { ...app.welcome, peer: "forwarded", reason };
    app.emitter.touch("welcome");
  });
  expect(screen.getByText(reason)).toBeTruthy();
  act(() => {
    if (app.welcome !== undefined) app.welcome = { ...app.welcome, reason: "" };
    app.emitter.touch("welcome");
  });
  expect(screen.queryByText(/is forwarded/)).toBeNull();
  app.stop();
});

test("a connection that is back at once makes nothing jump", () => {
  const said: string[] = [];
  const stop = onSay((text) => said.push(text));
  const { app, gateway } = shown();
  act(() => gateway.cut());
  act(() => app.link.hurry());
  act(() => vi.advanceTimersByTime(100));
  act(() => gateway.accept());
  act(() => vi.advanceTimersByTime(1000));
  expect(screen.queryByText(/Reconnecting/)).toBeNull();
  expect(said).toEqual([]);
  stop();
  app.stop();
});

test("a gateway of another version asks for a reload", () => {
  const { app, gateway } = shown();
  gateway.proto = 99;
  act(() => gateway.cut());
  act(() => app.link.hurry());
  act(() => gateway.accept());
  expect(screen.getByText("The gateway is of another version than this page.")).toBeTruthy();
  expect(screen.getByText("Reload")).toBeTruthy();
  app.stop();
});

test("a login that ended asks to log in again", () => {
  const { app, gateway } = shown();
  act(() => gateway.cut(4401));
  expect(screen.getByText("Log in again")).toBeTruthy();
  expect(screen.getByText("Logged out")).toBeTruthy();
  app.stop();
});

test("a session that has to catch up says so, if that takes long", () => {
  const { app, gateway, session } = shown();
  act(() => {
    app.following.follow(session);
    gateway.play(30);
  });
  const store = app.session(session);
  act(() => {
    store.synced = false;
    store.emitter.touch("synced");
  });
  expect(screen.queryByText(/Syncing/)).toBeNull();
  act(() => vi.advanceTimersByTime(500));
  expect(screen.getByText("Syncing what happened meanwhile.")).toBeTruthy();
  act(() => {
    store.synced = true;
    store.emitter.touch("synced");
  });
  expect(screen.queryByText(/Syncing/)).toBeNull();
  app.stop();
});

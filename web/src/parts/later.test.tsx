import { act, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway } from "../../tests/fake-gateway.ts";
import { ConnectionBanner } from "../status/connection.tsx";
import { App } from "../store/app.ts";
import { Caught } from "./caught.tsx";
import { later } from "./later.tsx";
import { AppContext } from "./use-store.ts";

function shown(children: ReactNode, isCurrent = true): App {
  const gateway = new FakeGateway();
  const app = new App({
    open: gateway.open,
    isCurrent: () => Promise.resolve(isCurrent),
    shelf: sessionStorage,
    cupboard: localStorage,
    newId: () => "id",
    schedule: (run) => run(),
  });
  app.start();
  gateway.accept();
  render(<AppContext value={app}>{children}</AppContext>);
  return app;
}

const settled = (): Promise<void> => act(async () => {});

test("a part is fetched once, when it is first wanted", async () => {
  const load = vi.fn<() => Promise<() => ReactNode>>(async () => () => <p>Here it is</p>);
  const Part = later(load);
  expect(load).not.toHaveBeenCalled();
  const app = shown(<Part />);
  await settled();
  expect(screen.getByText("Here it is")).toBeTruthy();
  render(
    <AppContext value={app}>
      <Part />
    </AppContext>,
  );
  expect(screen.getAllByText("Here it is")).toHaveLength(2);
  expect(load).toHaveBeenCalledOnce();
});

test("a view that cannot be fetched says so", async () => {
  const Part = later(() => Promise.reject(new Error("no network")));
  shown(<Part />);
  await settled();
  expect(screen.getByText("This part of the page could not be loaded.")).toBeTruthy();
});

test("a panel that cannot be fetched is closed, and that is said", async () => {
  const Part = later(() => Promise.reject(new Error("no network")));
  const closed = vi.fn<() => void>();
  const app = shown(<Part onFail={closed} />);
  await settled();
  expect(closed).toHaveBeenCalledOnce();
  expect(app.ui.toasts).toMatchObject([{ level: "error", undo: { label: "Reload" } }]);
});

test("a part that is gone with an upgrade is said once, above the page", async () => {
  const View = later(() => Promise.reject(new Error("404")));
  const Panel = later(() => Promise.reject(new Error("404")));
  const app = shown(
    <>
      <ConnectionBanner />
      <View />
      <Panel onFail={() => {}} />
    </>,
    false,
  );
  await settled();
  expect(screen.getByText(/The gateway was updated/)).toBeTruthy();
  expect(screen.getAllByRole("button", { name: "Reload" })).toHaveLength(1);
  expect(app.ui.toasts).toEqual([]);
});

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => {}); // React tells what broke
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("a view that breaks leaves the rest as it is", () => {
  function Broken(): ReactNode {
    throw new Error("a mistake of ours");
  }
  shown(
    <>
      <p>The rest</p>
      <Caught>
        <Broken />
      </Caught>
    </>,
  );
  expect(screen.getByText("The rest")).toBeTruthy();
  expect(screen.getByRole("alert").textContent).toContain("a mistake of ours");
});

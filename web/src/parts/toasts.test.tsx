import { act, fireEvent, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pageApp } from "../../tests/started.ts";
import type { App } from "../store/app.ts";
import { Modal } from "./modal.tsx";
import { Toasts } from "./toasts.tsx";
import { AppContext } from "./use-store.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function shown(): App {
  const app = pageApp();
  render(
    <AppContext value={app}>
      <textarea aria-label="Message" />
      <Toasts />
    </AppContext>,
  );
  screen.getByLabelText("Message").focus();
  return app;
}

test("a message takes no focus, and goes by itself", () => {
  const app = shown();
  act(() => app.ui.toast("Archived."));
  expect(screen.getByText("Archived.")).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByLabelText("Message"));
  act(() => vi.advanceTimersByTime(6000));
  expect(screen.queryByText("Archived.")).toBeNull();
});

test("what can be undone stays longer", () => {
  const app = shown();
  act(() => app.ui.toast("Archived.", "info", { label: "Undo", run: () => {} }));
  act(() => vi.advanceTimersByTime(11_000));
  expect(screen.getByText("Undo")).toBeTruthy();
  act(() => vi.advanceTimersByTime(1000));
  expect(screen.queryByText("Undo")).toBeNull();
});

test("it waits while somebody is at it, and gives the focus back", () => {
  const app = shown();
  const undone = vi.fn<() => void>();
  act(() => app.ui.toast("Archived.", "info", { label: "Undo", run: undone }));
  const undo = screen.getByText("Undo");
  act(() => undo.focus());
  act(() => vi.advanceTimersByTime(60_000));
  fireEvent.click(undo);
  expect(undone).toHaveBeenCalledOnce();
  expect(screen.queryByText("Archived.")).toBeNull();
  expect(document.activeElement).toBe(screen.getByLabelText("Message"));
});

test("there are never more than four", () => {
  const app = shown();
  act(() => {
    for (let one = 1; one <= 6; one += 1) app.ui.toast(`Number ${one}`);
  });
  expect(screen.getAllByText(/Number/).map((one) => one.textContent)).toEqual([
    "Number 3",
    "Number 4",
    "Number 5",
    "Number 6",
  ]);
});

function dialog(title: string): ReactNode {
  return (
    <Modal title={title} onClose={() => {}}>
      {title}
    </Modal>
  );
}

test("a message is inside of whatever dialog is open, and keeps its time", () => {
  const app = shown();
  act(() => app.ui.toast("Archived."));
  const one = screen.getByText("Archived.");
  const lower = render(dialog("Sessions"));
  const upper = render(dialog("Rename"));
  const dialogs = screen.getAllByRole("dialog");
  expect(one.closest("dialog")).toBe(dialogs[1]);
  act(() => vi.advanceTimersByTime(5000));
  upper.unmount();
  expect(one.closest("dialog")).toBe(dialogs[0]);
  lower.unmount();
  expect(one.isConnected).toBe(true);
  act(() => vi.advanceTimersByTime(1000));
  expect(screen.queryByText("Archived.")).toBeNull();
});

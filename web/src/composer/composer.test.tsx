import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shown } from "../dock/page.testing.tsx";
import type { SessionEvent } from "../protocol.gen.ts";

beforeEach(() => {
  vi.useFakeTimers();
  sessionStorage.clear();
  localStorage.clear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const field = (): HTMLTextAreaElement => screen.getByLabelText<HTMLTextAreaElement>("Message");
const button = (name: string | RegExp): HTMLElement => screen.getByRole("button", { name });

function write(text: string): void {
  act(() => field().focus());
  fireEvent.change(field(), { target: { value: text, selectionStart: text.length } });
  fireEvent.select(field());
}

const press = (key: string, more: object = {}): boolean =>
  fireEvent.keyDown(field(), { key, ...more });

function said(key: string, text: string): SessionEvent {
  const content = [{ type: "text" as const, text }];
  return { type: "input.accepted", key, kind: "message", by: "uid:0", fingerprint: "", content };
}

test("Enter sends, Shift+Enter does not", async () => {
  const { sent } = await shown();
  write("hello");
  press("Enter", { shiftKey: true });
  press("Enter", { isComposing: true });
  expect(sent()).toEqual([]);
  press("Enter");
  expect(sent()).toEqual([
    { type: "send_input", content: [{ type: "text", text: "hello" }], mode: "auto" },
  ]);
  expect(field().value).toBe("");
});

test("on touch Enter makes a line, and the button sends", async () => {
  vi.stubGlobal("matchMedia", () => ({
    matches: true,
    addEventListener: () => {},
    removeEventListener: () => {},
  }));
  const { sent } = await shown();
  write("hello");
  press("Enter");
  expect(sent()).toEqual([]);
  fireEvent.click(button("Send"));
  expect(sent()).toHaveLength(1);
});

test("a draft is there again after a reload", async () => {
  const { again } = await shown();
  write("half a thought");
  again();
  expect(field().value).toBe("half a thought");
});

test("Escape clears a draft, and Ctrl+Z brings it back", async () => {
  const { app } = await shown();
  write("half a thought");
  press("Escape");
  expect(field().value).toBe("");
  expect(app.ui.toasts.at(-1)?.undo?.label).toBe("Undo");
  press("z", { ctrlKey: true });
  expect(field().value).toBe("half a thought");
});

test("the arrow in an empty composer brings back what was said", async () => {
  const { happens } = await shown();
  happens(said("a", "first"), said("b", "second"));
  press("ArrowUp");
  expect(field().value).toBe("second");
  press("ArrowUp");
  expect(field().value).toBe("first");
  press("ArrowDown");
  press("ArrowDown");
  expect(field().value).toBe("");
  write("mine");
  press("ArrowUp");
  expect(field().value).toBe("mine");
});

test("commands are found, chosen and sent", async () => {
  const { happens, sent } = await shown();
  happens({ type: "agent.ready", commands: { cost: "local", compact: "local", review: "prompt" } });
  write("/co");
  const list = screen.getByRole("listbox", { name: "Commands" });
  expect(within(list).getAllByRole("option")[0]?.textContent).toContain("/cost");
  press("ArrowDown");
  const chosen = field().getAttribute("aria-activedescendant") ?? "";
  const name = document.getElementById(chosen)?.firstElementChild?.textContent;
  press("Enter");
  expect(field().value).toBe(`${name} `);
  write("/cost");
  press("Enter");
  expect(sent()).toMatchObject([{ content: [{ text: "/cost" }] }]);
});

test("Escape closes the list before it clears the draft", async () => {
  await shown();
  write("/he");
  press("Escape");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(field().value).toBe("/he");
});

test("a command of this page opens a panel and sends nothing", async () => {
  const { app, sent } = await shown();
  write("/help");
  press("Enter");
  expect(app.ui.panel).toBe("help");
  expect(sent()).toEqual([]);
});

test("files are found by the gateway, and named in the text", async () => {
  await shown({ files: { files: [{ path: "src/my boat.py", kind: "file" }] } });
  write("look at @bo");
  await act(async () => void (await vi.advanceTimersByTimeAsync(100)));
  expect(screen.getByRole("listbox", { name: "Files" })).toBeTruthy();
  press("Tab");
  expect(field().value).toBe('look at @"src/my boat.py" ');
});

test("while a turn runs, a message can wait for its end, be changed, and be taken back", async () => {
  const { happens, looks, sent } = await shown();
  const running = { status: "running", turn: "t" } as const;
  looks(running);
  fireEvent.change(screen.getByLabelText("When to send"), { target: { value: "queue" } });
  write("later");
  press("Enter");
  expect(sent()).toMatchObject([{ type: "send_input", mode: "queue" }]);
  happens(said("k", "later"));
  looks({ ...running, queue: [{ key: "k", by: "uid:0", head: "later" }] });
  fireEvent.click(button("Change this message"));
  fireEvent.change(screen.getByLabelText("Changed message"), { target: { value: "much later" } });
  fireEvent.click(button("Save"));
  await act(async () => {});
  fireEvent.click(button("Take this message back"));
  expect(sent().slice(1)).toEqual([
    { type: "edit_queued", key: "k", content: [{ type: "text", text: "much later" }] },
    { type: "cancel_queued", key: "k" },
  ]);
});

test("a turn that does not stop can be ended with its agent", async () => {
  const { may, looks, sent } = await shown();
  may("input", "interrupt");
  looks({ status: "running", turn: "t" });
  fireEvent.click(button("Stop"));
  await act(async () => {});
  expect(button("Stopping")).toBeTruthy();
  act(() => void vi.advanceTimersByTime(5000));
  fireEvent.click(button("End the agent"));
  expect(sent()).toEqual([
    { type: "interrupt", turn: "t" },
    { type: "interrupt", hard: true },
  ]);
});

test("Escape outside of everything stops the turn", async () => {
  const { looks, sent } = await shown();
  looks({ status: "running", turn: "t" });
  fireEvent.keyDown(document.body, { key: "Escape" });
  expect(sent()).toEqual([{ type: "interrupt", turn: "t" }]);
});

test("a message that was refused says why, and can be sent again or thrown away", async () => {
  const { gateway, sent } = await shown();
  gateway.refuses = { code: "busy", message: "too many inputs wait" };
  write("hello");
  press("Enter");
  await act(async () => {});
  expect(screen.getByRole("alert").textContent).toBe("too many inputs wait");
  gateway.refuses = undefined;
  fireEvent.click(button("Try again"));
  await act(async () => {});
  expect(sent()).toHaveLength(1);
  expect(screen.queryByText("Not sent")).toBeNull();
});

test("a message for a turn that is over becomes one of its own", async () => {
  const { gateway, looks, sent } = await shown();
  looks({ status: "running", turn: "t" });
  fireEvent.change(screen.getByLabelText("When to send"), { target: { value: "steer" } });
  gateway.refuses = { code: "stale_turn", message: "no turn runs" };
  write("hello");
  press("Enter");
  await act(async () => {});
  gateway.refuses = undefined;
  fireEvent.click(button("Try again"));
  expect(sent()).toMatchObject([{ type: "send_input", mode: "auto" }]);
});

/** The connection is lost, and somebody says this. */
async function saidOffline(...all: string[]): Promise<Awaited<ReturnType<typeof shown>>> {
  const page = await shown();
  act(() => page.gateway.cut());
  for (const one of all) {
    write(one);
    press("Enter");
  }
  return page;
}

async function online({ app, gateway }: Awaited<ReturnType<typeof shown>>): Promise<void> {
  await act(async () => {
    app.link.hurry();
    gateway.accept();
  });
}

test("what is said without a connection waits where it can be seen, and be taken back", async () => {
  const page = await saidOffline("hello", "never mind");
  expect(screen.getAllByText("When the connection is back")).toHaveLength(2);
  fireEvent.click(screen.getAllByRole("button", { name: "Take this message back" })[1]!);
  expect(screen.queryByText("never mind")).toBeNull();
  expect(document.activeElement).toBe(field());
  await online(page);
  expect(page.sent()).toMatchObject([{ content: [{ text: "hello" }] }]);
});

test("a message taken back by mistake is there again", async () => {
  const { app } = await saidOffline("hello");
  fireEvent.click(button("Take this message back"));
  act(() => app.ui.toasts.at(-1)?.undo?.run());
  expect(screen.getByText("hello")).toBeTruthy();
});

test("what waits for the connection can be changed, and is not sent meanwhile", async () => {
  const page = await saidOffline("thimk");
  fireEvent.click(button("Change this message"));
  const words = screen.getByLabelText<HTMLTextAreaElement>("Changed message");
  expect(words.value).toBe("thimk");
  fireEvent.change(words, { target: { value: "think" } });
  await online(page);
  page.again(); // as after going elsewhere, or a reload
  expect(screen.getByLabelText<HTMLTextAreaElement>("Changed message").value).toBe("think");
  expect(page.sent()).toEqual([]);
  fireEvent.click(button("Save"));
  expect(page.sent()).toMatchObject([{ content: [{ text: "think" }] }]);
  await act(async () => {});
  expect(screen.queryByLabelText("Changed message")).toBeNull();
});

test("what may have arrived is not offered to be taken back", async () => {
  const { gateway } = await shown();
  gateway.silent = true;
  write("hello");
  press("Enter");
  act(() => void vi.advanceTimersByTime(1000));
  expect(screen.getByText("Sending")).toBeTruthy();
  act(() => gateway.cut());
  expect(screen.getByText("Sent, not confirmed")).toBeTruthy();
  expect(screen.queryByRole("button", { name: /this message/ })).toBeNull();
});

test("a pasted picture goes with the message, and can be taken off", async () => {
  vi.useRealTimers();
  vi.stubGlobal("createImageBitmap", async () => ({ width: 1, height: 1, close: () => {} }));
  const { sent } = await shown();
  const png = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0])], "a.png", {
    type: "image/png",
  });
  const paste = (): boolean =>
    fireEvent.paste(field(), { clipboardData: { files: [png], getData: () => "" } });
  paste();
  fireEvent.click(await screen.findByRole("button", { name: "Remove a.png" }));
  expect(screen.queryByLabelText("Attached")).toBeNull();
  paste();
  await screen.findByText("5 B");
  press("Enter");
  expect(sent()).toMatchObject([{ content: [{ type: "image", media_type: "image/png" }] }]);
});

test("files that are dropped anywhere go with the message", async () => {
  vi.useRealTimers();
  await shown();
  const dataTransfer = { types: ["Files"], files: [new File(["# hi"], "notes.md")] };
  fireEvent.dragOver(document.body, { dataTransfer });
  expect(screen.getByText("Drop to attach")).toBeTruthy();
  fireEvent.drop(document.body, { dataTransfer });
  expect(await screen.findByText("4 B")).toBeTruthy();
  expect(screen.queryByText("Drop to attach")).toBeNull();
});

test("who may only look cannot write", async () => {
  const { may } = await shown();
  may("view");
  expect(field().disabled).toBe(true);
  expect(field().placeholder).toBe("You may look here, not write");
});

test.each(["claude", "courier", undefined])(
  "modes have the names that the agent publishes, in its order, whatever its kind: %j",
  async (kind) => {
    const known = [{ id: "default", freedom: 0, name: "Ask at the door" }];
    const { looks, store } = await shown({
      settings: { commands: ["set_mode"], modes: ["auto", "default"], known_modes: known },
    });
    looks({ mode: "default", ...(kind === undefined ? {} : { kind }) });
    const { options } = screen.getByLabelText<HTMLSelectElement>("Permission mode");
    expect([...options].map((one) => one.text)).toEqual(["auto", "Ask at the door"]);
    expect(store.modes.get("default")?.name).toBe("Ask at the door"); // for the transcript
  },
);

test("an agent that does not describe its models is asked for them in our terms", async () => {
  const { looks } = await shown({
    settings: { commands: ["set_model"], models: [] },
    agent_info: { models: [{ id: "van", name: "A van" }, { id: "bike" }] },
  });
  looks({ status: "idle", model: "bike" });
  await act(async () => {}); // until the answer is drawn
  const { options } = screen.getByLabelText<HTMLSelectElement>("Model");
  expect([...options].map((one) => one.text)).toEqual(["A van", "bike"]);
});

test("the agent is set by what it can be told", async () => {
  const { looks, sent } = await shown({
    settings: {
      commands: ["set_mode", "set_fast", "set_model"],
      modes: ["default", "plan"],
      models: [{ id: "n", name: "New", efforts: null, fast: null }],
    },
  });
  looks({ mode: "default" });
  fireEvent.change(screen.getByLabelText("Permission mode"), { target: { value: "plan" } });
  fireEvent.change(screen.getByLabelText("Model"), { target: { value: "n" } });
  fireEvent.click(screen.getByRole("switch", { name: "Fast" }));
  expect(screen.queryByLabelText("Effort")).toBeNull();
  expect(sent()).toEqual([
    { type: "set_mode", mode: "plan" },
    { type: "set_model", model: "n" },
    { type: "set_fast", on: true },
  ]);
});

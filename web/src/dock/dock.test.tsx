import { act, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ASKED, Sees, shown } from "./page.testing.tsx";

beforeEach(() => {
  vi.useFakeTimers();
  sessionStorage.clear();
  Sees.all = true;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const dock = (): HTMLElement => screen.getByRole("region", { name: "Waiting for you" });
const button = (name: string | RegExp): HTMLElement => screen.getByRole("button", { name });
const look = (): void => act(() => void vi.advanceTimersByTime(700));
const press = (key: string, on: Element = dock()): boolean => fireEvent.keyDown(on, { key });

async function asked(
  ...more: Parameters<typeof shown>
): Promise<Awaited<ReturnType<typeof shown>>> {
  const page = await shown(...more);
  page.looks({ status: "running", turn: "t" });
  page.happens(ASKED);
  return page;
}

test("nothing counts in the first moment; then an answer is bound to what was shown", async () => {
  const { sent } = await asked();
  fireEvent.click(button("Allow once"));
  press("y");
  press("Escape");
  act(() => void vi.advanceTimersByTime(699));
  fireEvent.click(button("Allow once"));
  expect(sent()).toEqual([]);
  act(() => void vi.advanceTimersByTime(1));
  fireEvent.click(button("Allow once"));
  expect(sent()).toEqual([
    { type: "answer_permission", prompt: "p1", digest: "d1", decision: "allow" },
  ]);
});

test("the next prompt in the same place has its own first moment", async () => {
  const { happens, sent } = await asked();
  happens({ ...ASKED, prompt: "p2", digest: "d2" });
  expect(screen.getByText("1 of 2")).toBeTruthy();
  look();
  happens({ type: "permission.closed", prompt: "p1", how: "allowed", by: "uid:0" });
  fireEvent.click(button("Allow once"));
  expect(sent()).toEqual([]);
  look();
  fireEvent.click(button("Allow once"));
  expect(sent()).toMatchObject([{ prompt: "p2", digest: "d2" }]);
});

test("a window that comes back to the front begins with a moment to look", async () => {
  const { sent } = await asked();
  look();
  act(() => void window.dispatchEvent(new Event("focus")));
  fireEvent.click(button("Allow once"));
  expect(sent()).toEqual([]);
});

test("single keys answer from within the dock, and only from there", async () => {
  const { sent } = await asked();
  look();
  press("y", screen.getByLabelText("Message"));
  press("y", document.body);
  fireEvent.keyDown(dock(), { key: "y", ctrlKey: true });
  expect(sent()).toEqual([]);
  press("y");
  expect(sent()).toMatchObject([{ decision: "allow" }]);
});

test("a refusal takes a message, and can end the turn", async () => {
  const { sent } = await asked();
  look();
  press("n", within(dock()).getByText("ls"));
  const field = screen.getByLabelText(/What should it do instead/);
  expect(document.activeElement).toBe(field);
  fireEvent.change(field, { target: { value: "Use git ls-files" } });
  fireEvent.click(button("Deny and stop"));
  expect(sent()).toMatchObject([
    { decision: "deny", message: "Use git ls-files", stop: true, digest: "d1" },
  ]);
});

test("Escape closes the form first, and denies from the prompt", async () => {
  const { sent } = await asked();
  look();
  press("n", within(dock()).getByText("ls"));
  press("Escape", screen.getByLabelText(/What should it do instead/));
  expect(screen.queryByLabelText(/What should it do instead/)).toBeNull();
  expect(document.activeElement).toBe(dock());
  press("Escape");
  expect(sent()).toMatchObject([{ decision: "deny" }]);
});

test("a changed input is sent once it makes sense, and an unchanged one as a plain allow", async () => {
  const { sent } = await asked();
  look();
  fireEvent.click(button("Edit"));
  fireEvent.click(button("As JSON"));
  const field = screen.getByLabelText("Input as JSON");
  fireEvent.change(field, { target: { value: "[]" } });
  fireEvent.click(button("Allow as changed"));
  expect(sent()).toEqual([]);
  expect(screen.getByRole("alert").textContent).toMatch(/object/);
  fireEvent.change(field, { target: { value: '{"command": "ls -l"}' } });
  fireEvent.click(button("Allow as changed"));
  expect(sent()).toMatchObject([{ decision: "allow", updated_input: { command: "ls -l" } }]);
});

test("a rule is kept where somebody says so", async () => {
  const { sent } = await asked();
  look();
  fireEvent.change(screen.getByLabelText("Where a rule holds"), { target: { value: "project" } });
  fireEvent.click(button(/^Always allow Bash\(ls\) in this project, for everybody$/));
  expect(sent()).toMatchObject([{ decision: "allow", remember: [0], place: "project" }]);
});

test("without the right to administer, a rule holds in this session and a mode is not offered", async () => {
  const { may, happens, sent } = await shown();
  may("view", "input", "approve");
  const mode = { scope: "session", durable: false, mode: "acceptEdits" } as const;
  happens({ ...ASKED, offers: [{ ...mode, label: "Allow, and accept all edits" }] });
  look();
  expect(screen.queryByLabelText("Where a rule holds")).toBeNull();
  fireEvent.click(button(/accept all edits/));
  expect(sent()).toEqual([]);
});

test("suggestions of an older gateway are told of, and the call can be allowed once", async () => {
  const { happens, sent } = await shown();
  happens({ ...ASKED, offers: [] });
  look();
  within(dock()).getByText("Not offered here: 1 of the agent's suggestions.");
  expect(screen.queryByRole("button", { name: /Always/ })).toBeNull();
  fireEvent.click(button("Allow once"));
  expect(sent()).toMatchObject([{ decision: "allow" }]);
  expect(sent()[0]).not.toHaveProperty("remember");
});

test("who may not approve is told so, and cannot", async () => {
  const { may, sent } = await asked();
  may("view");
  look();
  fireEvent.click(button("Allow once"));
  press("y");
  press("Escape");
  expect(sent()).toEqual([]);
  expect(screen.getByText(/does not have the right to approve/)).toBeTruthy();
});

test("test_web_a02 a forwarded connection says why it cannot approve before somebody tries", async () => {
  const { app, may, sent } = await asked();
  const reason = "This connection is forwarded (SSH or a proxy).";
  may("view", "input", "interrupt");
  act(() => {
    if (app.welcome !== undefined) app.welcome = { ...app.welcome, peer: "forwarded", reason };
    app.emitter.touch("welcome");
  });
  look();
  expect(screen.getByText(reason)).toBeTruthy();
  expect(button("Allow once").getAttribute("aria-disabled")).toBe("true");
  expect(button("Deny").getAttribute("aria-disabled")).toBe("true");
  fireEvent.click(button("Allow once"));
  expect(sent()).toEqual([]);
});

test("what was not read to its end cannot be allowed, only denied", async () => {
  Sees.all = false;
  const { sent } = await asked();
  look();
  fireEvent.click(button("Allow once"));
  press("y", within(dock()).getByText("ls"));
  fireEvent.click(button(/^Always allow/));
  expect(sent()).toEqual([]);
  expect(screen.getByText(/Read to the end/)).toBeTruthy();
  fireEvent.click(button("Edit"));
  fireEvent.click(button("Allow as changed"));
  expect(sent()).toEqual([]);
  fireEvent.click(button("Back"));
  fireEvent.click(button("Deny"));
  expect(screen.getByLabelText(/What should it do instead/)).toBeTruthy();
});

test("a prompt takes no focus from a draft, nor from somebody who types", async () => {
  const page = await shown();
  const field = screen.getByLabelText("Message");
  act(() => field.focus());
  fireEvent.change(field, { target: { value: "half a thought" } });
  page.happens(ASKED);
  expect(document.activeElement).toBe(field);
});

test("a prompt takes the focus from nobody, and gives it to the composer when it is gone", async () => {
  const { happens } = await asked();
  expect(document.activeElement).toBe(dock());
  happens({ type: "permission.closed", prompt: "p1", how: "denied", by: "anna" });
  expect(screen.queryByRole("region", { name: "Waiting for you" })).toBeNull();
  expect(screen.getByText(/^Denied by anna/)).toBeTruthy();
  act(() => void vi.advanceTimersByTime(6000));
  expect(screen.queryByText(/^Denied by anna/)).toBeNull();
  expect(document.activeElement).toBe(screen.getByLabelText("Message"));
});

test("an answer that came too late says so", async () => {
  const { gateway } = await asked();
  look();
  gateway.refuses = { code: "already_decided", message: "decided" };
  fireEvent.click(button("Allow once"));
  await act(async () => {});
  expect(screen.getByRole("alert").textContent).toBe("Somebody else answered first.");
});

test("several questions are answered at once, and what was chosen survives a reload", async () => {
  const { happens, sent, again } = await shown();
  const option = (label: string): object => ({ label, description: "" });
  happens({
    type: "question.requested",
    prompt: "q",
    digest: "d",
    questions: [
      { question: "Which?", header: "", multiSelect: false, options: ["A", "B"].map(option) },
      { question: "Who?", header: "", multiSelect: true, options: ["C", "D"].map(option) },
    ],
  });
  look();
  fireEvent.click(screen.getByLabelText("B"));
  fireEvent.click(screen.getByLabelText("D"));
  fireEvent.click(screen.getByLabelText("C"));
  again();
  look();
  fireEvent.change(screen.getByLabelText("Your own answer: Who?"), { target: { value: "E" } });
  fireEvent.click(button("Send answers"));
  expect(sent()).toEqual([
    {
      type: "answer_question",
      prompt: "q",
      digest: "d",
      answers: { "Which?": ["B"], "Who?": ["C", "D", "E"] },
    },
  ]);
});

test("a form that is not whole is not sent", async () => {
  const { happens, sent } = await shown();
  happens({
    type: "question.requested",
    prompt: "q",
    digest: "d",
    questions: [{ question: "Which?", header: "", multiSelect: false, options: [] }],
  });
  look();
  fireEvent.click(button("Send answer"));
  expect(sent()).toEqual([]);
  fireEvent.click(button("Do not answer"));
  expect(sent()).toMatchObject([{ type: "answer_question", declined: true }]);
});

test("a plan is approved, or planned on with words", async () => {
  const { happens, sent } = await shown();
  happens({
    ...ASKED,
    tool: "ExitPlanMode",
    input: { plan: "# Build it" },
    suggestions: [],
    offers: [],
  });
  look();
  expect(screen.getByRole("heading", { name: "Build it" })).toBeTruthy();
  fireEvent.click(button("Keep planning"));
  fireEvent.change(screen.getByLabelText("What should be different?"), {
    target: { value: "Smaller steps" },
  });
  fireEvent.submit(screen.getByRole("form", { name: "Keep planning" }));
  expect(sent()).toMatchObject([{ decision: "deny", message: "Smaller steps", stop: false }]);
});

test("a prompt from before the part of the log that is here is asked for", async () => {
  const view = { prompt: "old", kind: "permission", tool: "Bash", digest: "d", since_ms: 1 };
  const page = await shown({
    prompts: {
      prompts: [
        { session: "s", prompt: "old", kind: "permission", digest: "d", tool: "Bash", input: {} },
      ],
    },
  });
  page.looks({ prompts: [view] });
  await act(async () => {});
  expect(dock().textContent).toContain("Wants to run a command");
  page.looks({ prompts: [] });
  expect(screen.queryByRole("region", { name: "Waiting for you" })).toBeNull();
});

test("a very long change is worked out in steps, and until it is drawn nothing of it was seen", async () => {
  const page = await shown();
  page.looks({ status: "running", turn: "t" });
  const lines = (word: string): string =>
    Array.from({ length: 1500 }, (_, at) => `${word} ${at % 3 === 0 ? "" : "same "}${at}`).join(
      "\n",
    );
  const input = { file_path: "/w/a.py", old_string: lines("line"), new_string: lines("line ") };
  page.happens({ ...ASKED, tool: "Edit", input });
  const asks = within(dock()).getByRole("group", { name: "What is asked" });
  expect(asks.getAttribute("aria-busy")).toBe("true");
  expect(asks.textContent).toBe("");
  expect(screen.queryByText(/There is more below/)).toBeNull();
  Sees.all = false; // the empty frame was on the screen, the change is not
  look();
  expect(asks.getAttribute("aria-busy")).toBe("false");
  expect(within(asks).getByRole("group", { name: "Changes in /w/a.py" })).toBeTruthy();
  fireEvent.click(button("Allow once"));
  expect(page.sent()).toEqual([]);
  expect(screen.getByText(/There is more below/)).toBeTruthy();
});

test.each([
  ["Write", { file_path: "/a\u200db.js", content: "const { admin,\u3164} = q;\n" }],
  [
    "Edit",
    { file_path: "/a\u200db.js", old_string: "x", new_string: "const { admin,\u3164} = q;" },
  ],
])(
  "a11: letters nobody sees are spelled out in the change of a prompt for %s",
  async (tool, input) => {
    const page = await shown();
    page.happens({ ...ASKED, tool, input });
    const change = within(dock()).getByRole("group", { name: "Changes in /a⟨U+200D⟩b.js" });
    expect(change.textContent).toContain("const { admin,⟨U+3164⟩} = q;");
  },
);

test("another agent's command is shown whole, wherever it stands in the input", async () => {
  const { happens } = await shown();
  const line = `tar ${"x".repeat(3000)} the-end`;
  const cut = `${line.slice(0, 2046)} …`;
  const input = { argv: line, folder: "/w" };
  happens({ ...ASKED, tool: "shell", kind: "execute", subject: { command: cut }, input });
  expect(within(dock()).getByText("Wants to run a command")).toBeTruthy();
  expect(dock().querySelector("pre")?.textContent).toContain("the-end");
  expect(within(dock()).getByText("/w")).toBeTruthy();
  expect(dock().textContent.split("the-end")).toHaveLength(2);
});

test("a described change is shown together with the whole input", async () => {
  const { happens } = await shown();
  const subject = { paths: ["boat.txt"], diff: "-old keel\n+new keel" };
  const input = { files: "boat.txt", script: "everything that it does" };
  happens({ ...ASKED, tool: "patch", kind: "edit", subject, input });
  expect(within(dock()).getByText("Wants to change a file")).toBeTruthy();
  expect(dock().textContent).toContain("new");
  expect(within(dock()).getByText("everything that it does")).toBeTruthy();
});

test("a plan is one by its kind", async () => {
  const { happens } = await shown();
  const input = { steps: "sail north" };
  happens({ ...ASKED, tool: "route", kind: "plan", subject: { title: "North" }, input });
  expect(within(dock()).getByText("Has a plan for you to review")).toBeTruthy();
  expect(within(dock()).getByText("sail north")).toBeTruthy();
  expect(dock().textContent).not.toContain("The plan is empty");
});

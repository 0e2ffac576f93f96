import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { MANY } from "./diff-rows.tsx";
import { DiffView, FOLD } from "./diff-view.tsx";
import type { Hunk } from "./hunks.ts";

const EDIT: readonly Hunk[] = [
  {
    oldStart: 3,
    oldLines: 3,
    newStart: 3,
    newLines: 3,
    lines: [" one", "-return a + b", "+return a - b", " three"],
  },
];

function added(count: number): readonly Hunk[] {
  const lines = Array.from({ length: count }, (_, at) => `+line ${at}`);
  return [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: count, lines }];
}

test("lines are told with their numbers, and changed words are marked", () => {
  const { container } = render(<DiffView path="a.py" hunks={EDIT} />);
  const told = screen.getByRole("group", { name: "Changes in a.py" });
  expect(told.textContent).toBe("oneremoved line 4: return a + badded line 4: return a - bthree");
  expect([...container.querySelectorAll("mark")].map((one) => one.textContent)).toEqual(["+", "-"]);
  expect(screen.getByText("1 line added, 1 removed")).toBeTruthy();
  expect(container.querySelector("[style]")).toBeNull();
});

test("side by side each line stands once on its side", () => {
  const { container } = render(<DiffView path="a.py" hunks={EDIT} mode="split" />);
  const told = screen.getByRole("group", { name: "Changes in a.py" });
  expect(told.textContent).toBe(
    "oneoneremoved line 4: return a + badded line 4: return a - bthreethree",
  );
  expect(container.querySelectorAll("div[aria-hidden]")).toHaveLength(2);
});

test("an edit that has not happened has no numbers", () => {
  const { container } = render(<DiffView path="a.py" hunks={EDIT} numbered={false} note="later" />);
  expect(container.querySelector("[data-line]")).toBeNull();
  expect(screen.getByText("removed line:", { exact: false })).toBeTruthy();
  expect(screen.getByText("later")).toBeTruthy();
});

test("a long change is folded until somebody asks, and stays unfolded", async () => {
  const { container, unmount } = render(<DiffView path="a" hunks={added(400)} id="kept" />);
  const count = (): number => container.querySelectorAll("[data-sign]").length;
  expect(count()).toBe(FOLD);
  await userEvent.click(screen.getByRole("button", { name: "Show 380 more lines" }));
  expect(count()).toBe(400);
  expect(screen.queryByRole("button", { name: /^Show/ })).toBeNull();
  unmount();
  const again = render(<DiffView path="a" hunks={added(400)} id="kept" />);
  expect(again.container.querySelectorAll("[data-sign]")).toHaveLength(400);
});

test("of very many lines only those near what is seen are drawn", () => {
  const all = Number.POSITIVE_INFINITY;
  const { container } = render(<DiffView path="a" hunks={added(20 * MANY)} fold={all} />);
  expect(container.querySelectorAll("[data-sign]").length).toBeLessThanOrEqual(MANY);
  const spaces = container.querySelectorAll<HTMLElement>("[style]");
  expect(spaces.length).toBeGreaterThan(190);
  expect(spaces[0]?.style.height).toBe("59.375rem");
});

test("one line more is not folded away", () => {
  render(<DiffView path="a" hunks={added(FOLD + 1)} />);
  expect(screen.queryByRole("button", { name: /^Show/ })).toBeNull();
});

test("a change of which only a part was sent can be asked for", async () => {
  const all = vi.fn();
  const hunks = [{ ...added(1)[0]!, lines: ["+a", "\\ 40 more lines"] }];
  render(<DiffView path="a" hunks={hunks} onShowAll={all} />);
  expect(screen.getByText("40 more lines")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show the whole change" }));
  expect(all).toHaveBeenCalledTimes(1);
});

test("hostile lines are only text, and long ones are cut", () => {
  const lines = ["+<script>alert(1)</script>", "+a\u202eb\u001b[31m", `+${"x".repeat(100_000)}`];
  const { container } = render(<DiffView path="a" hunks={[{ ...added(1)[0]!, lines }]} />);
  expect(container.querySelector("script")).toBeNull();
  expect(container.textContent).toContain("<script>alert(1)</script>");
  expect(container.textContent).toContain("a⟨U+202E⟩b␛[31m");
  expect(container.textContent).toContain("98000 more characters");
});

test("where somebody decides, a long line is there to its end", () => {
  const lines = [`+${"x".repeat(100_000)} rm -rf`];
  const all = Number.POSITIVE_INFINITY;
  const { container } = render(
    <DiffView path="a" hunks={[{ ...added(1)[0]!, lines }]} fold={all} />,
  );
  expect(container.textContent).toContain("x rm -rf");
  expect(container.textContent).not.toContain("more characters");
});

test("nothing changed is said", () => {
  render(<DiffView path="a" hunks={[]} />);
  expect(screen.getByText("No lines change.")).toBeTruthy();
});

test("a change can be copied as a patch", async () => {
  const user = userEvent.setup();
  render(<DiffView path="a.py" hunks={EDIT} />);
  await user.click(screen.getByRole("button", { name: "Copy changes in a.py" }));
  expect(await navigator.clipboard.readText()).toContain("@@ -3,3 +3,3 @@\n one\n-return a + b");
});

test("the lines can be reached by keyboard", async () => {
  render(<DiffView path="a.py" hunks={EDIT} />);
  await userEvent.tab();
  await userEvent.tab();
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Changes in a.py");
});

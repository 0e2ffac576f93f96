import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { StrictMode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Code } from "./code.tsx";
import { Colourer } from "./colour.ts";
import type { ToWorker } from "./highlight.ts";

// A worker that works in the page: the same code, without a thread.
class NearWorker extends EventTarget {
  #colourer = new Colourer();
  postMessage(asked: ToWorker): void {
    if (asked.type !== "lines") return;
    const { id, language, lines } = asked;
    void this.#colourer.colour(id, language, lines).then((colours) => {
      act(() => void this.dispatchEvent(new MessageEvent("message", { data: { id, colours } })));
    });
  }
  terminate(): void {}
}

beforeEach(() => {
  vi.stubGlobal("Worker", NearWorker);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test("code is there at once, its colours follow", async () => {
  const { container } = render(<Code text={"def f():\n    return 1\n"} lang="python" />);
  expect(container.querySelector("code")?.textContent).toBe("def f():\n    return 1");
  await vi.waitFor(() => expect(container.querySelector(".syn-keyword")?.textContent).toBe("def"));
  expect(container.querySelector("code")?.textContent).toBe("def f():\n    return 1");
  expect(container.querySelector("[style]")).toBeNull();
});

test("code that was coloured before has its colours from the first frame on", async () => {
  const first = render(<Code text="return 2" lang="python" />);
  await vi.waitFor(() => expect(first.container.querySelector(".syn-keyword")).toBeTruthy());
  first.unmount();
  const { container } = render(<Code text="return 2" lang="python" />);
  expect(container.querySelector(".syn-keyword")).toBeTruthy();
});

test("code that grows is coloured line by line", async () => {
  const { container, rerender } = render(<Code text="return 3" lang="python" open />);
  rerender(<Code text={"return 3\nretu"} lang="python" open />);
  await vi.waitFor(() => expect(container.querySelectorAll(".syn-keyword")).toHaveLength(1));
  rerender(<Code text={"return 3\nreturn 4"} lang="python" />);
  await vi.waitFor(() => expect(container.querySelectorAll(".syn-keyword")).toHaveLength(2));
  rerender(<Code text="return 5" lang="python" />);
  await vi.waitFor(() => expect(container.querySelectorAll(".syn-keyword")).toHaveLength(1));
  expect(container.querySelector("code")?.textContent).toBe("return 5");
});

test("code that grows is coloured when effects run twice", async () => {
  const code = (text: string) => (
    <StrictMode>
      <Code text={text} lang="python" open />
    </StrictMode>
  );
  const { container, rerender } = render(code("return 6\n"));
  rerender(code("return 6\nreturn 7\nre"));
  await vi.waitFor(() => expect(container.querySelectorAll(".syn-keyword")).toHaveLength(2));
});

test("code of no known language is plain", () => {
  const { container } = render(<Code text="a\nb" lang="nonsense" />);
  expect(container.querySelector("code span")).toBeNull();
});

test("the name of a file says the language, and lines can have numbers", () => {
  const lines = Array.from({ length: 120 }, (_, at) => `line ${at}`).join("\n");
  const { container } = render(<Code text={lines} path="a/b.txt" firstLine={7} />);
  expect(screen.getByRole("group", { name: "Code, a/b.txt" })).toBeTruthy();
  expect(container.querySelector("code")?.textContent).toBe(lines);
  const numbers = [...container.querySelectorAll("[data-line]")];
  expect(numbers.map((one) => one.getAttribute("data-line")).slice(-1)).toEqual(["126"]);
});

test("letters that turn the direction can be seen", () => {
  const { container } = render(<Code text={"a \u202e b \u001b[0m"} />);
  expect(container.querySelector("code")?.textContent).toBe("a ⟨U+202E⟩ b ␛[0m");
});

test("code can be copied", async () => {
  const user = userEvent.setup();
  render(<Code text={"a\nb"} lang="x" />);
  await user.click(screen.getByRole("button", { name: "Copy code" }));
  expect(await navigator.clipboard.readText()).toBe("a\nb");
  expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
});

import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { PathOpener } from "./path-link.tsx";
import { Prose } from "./prose.tsx";

function html(text: string, live = false): HTMLElement {
  return render(<Prose text={text} live={live} />).container;
}

test("a text becomes a page", () => {
  html(
    "# Title\n\nsome **bold**, *leaning* and ~~gone~~ `code`\n\n> said\n\n---\n\n1. one\n2. two",
  );
  expect(screen.getByRole("heading", { level: 2, name: "Title" })).toBeTruthy();
  expect(screen.getByText("bold").tagName).toBe("STRONG");
  expect(screen.getByText("leaning").tagName).toBe("EM");
  expect(screen.getByText("gone").tagName).toBe("DEL");
  expect(screen.getByText("code").tagName).toBe("CODE");
  expect(screen.getByText("said").closest("blockquote")).toBeTruthy();
  expect(screen.getByRole("separator")).toBeTruthy();
  expect(screen.getAllByRole("listitem")).toHaveLength(2);
});

test("headings begin where the page says", () => {
  render(<Prose text={"### a\n\n#### b"} headingBase={4} />);
  expect(screen.getByRole("heading", { level: 4, name: "a" })).toBeTruthy();
  expect(screen.getByRole("heading", { level: 5, name: "b" })).toBeTruthy();
});

test("a table can be reached by keyboard and says what it is", async () => {
  html("| name | size |\n|---|--:|\n| a | 1 |\n| b | 2 |");
  const box = screen.getByRole("group", { name: "Table: name, size" });
  await userEvent.tab();
  expect(document.activeElement).toBe(box);
  expect(within(box).getAllByRole("columnheader")).toHaveLength(2);
  expect(within(box).getAllByRole("row")).toHaveLength(3);
});

test("tasks say whether they are done", () => {
  html("- [x] one\n- [ ] two");
  expect(screen.getAllByRole("img").map((one) => one.getAttribute("aria-label"))).toEqual([
    "done",
    "to do",
  ]);
});

test("links leave the page and tell where to", () => {
  html("[words](https://a.example/b)");
  const link = screen.getByRole("link", { name: "words" });
  expect(link.getAttribute("href")).toBe("https://a.example/b");
  expect(link.getAttribute("title")).toBe("https://a.example/b");
  expect(link.getAttribute("target")).toBe("_blank");
  expect(link.getAttribute("rel")).toBe("noopener noreferrer");
});

test("hostile text is only text", () => {
  const said =
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1))\n\n" +
    '![x](javascript:alert(1))\n\n<a href="javascript:1">b</a>\n\n<style>* {display: none}</style>';
  const page = html(said);
  expect(page.querySelector("script, img, a, style, iframe, object")).toBeNull();
  expect(page.textContent).toContain("<script>alert(1)</script>");
  const names = [...page.querySelectorAll("*")].flatMap((one) => one.getAttributeNames());
  expect(new Set(names)).toEqual(new Set(["class"]));
});

test("nested marks and huge lines are drawn", () => {
  const page = html(`${"*a **b ".repeat(400)}\n\n${">".repeat(5000)}\n\n${"x".repeat(300_000)}`);
  expect(page.textContent?.length).toBeGreaterThan(300_000);
});

test("pictures from elsewhere are not loaded", () => {
  const page = html("![cat](https://a.example/cat.png) ![dot](data:image/png;base64,AAAA)");
  expect(page.querySelectorAll("img")).toHaveLength(1);
  expect(screen.getByRole("img", { name: "dot" })).toBeTruthy();
  expect(screen.getByRole("link", { name: "cat" })).toBeTruthy();
});

test("a16: of our own addresses only blobs are loaded, and by no address of the page", () => {
  const asked = vi.fn(() => Promise.reject(new Error("offline")));
  vi.stubGlobal("fetch", asked);
  const digest = "a".repeat(64);
  const page = html(
    "![me](/api/v1/me) ![stream](/api/v1/sessions/s/stream) ![out](/login) ![old](blob:x) " +
      `![cat](/api/v1/blobs/${digest}) ![near](/api/v1/blobs/../me)`,
  );
  expect(page.textContent).toBe("me stream out old  near");
  expect(screen.getByRole("img", { name: "cat" })).toBeTruthy(); // fetched once it is near
  expect(page.querySelectorAll("img")).toHaveLength(0);
  expect(page.querySelectorAll("a")).toHaveLength(0);
  expect(asked).not.toHaveBeenCalled();
});

test("finished blocks stay the same elements while the text grows", () => {
  const text = "one\n\n```py\nx = 1\n```\n\n- two\n\nthree **four";
  const { container, rerender } = render(<Prose text="" live />);
  const seen = new Set<Element>();
  for (let end = 1; end <= text.length; end += 1) {
    rerender(<Prose text={text.slice(0, end)} live />);
    const [first, second] = container.querySelector("div > div")?.firstElementChild?.children ?? [];
    if (first) seen.add(first);
    if (second?.querySelector("pre")) seen.add(second);
  }
  expect(screen.getByText("four").tagName).toBe("STRONG");
  rerender(<Prose text={`${text}**`} />);
  const [first, second] = container.querySelector("div > div")?.firstElementChild?.children ?? [];
  expect([...seen]).toEqual([first, second]);
});

test("names of files can be opened when somebody knows how", async () => {
  const open = vi.fn();
  render(
    <PathOpener value={open}>
      <Prose text="see src/a.py:3 and `web/b.ts`" />
    </PathOpener>,
  );
  await userEvent.click(screen.getByRole("button", { name: "src/a.py:3" }));
  await userEvent.click(screen.getByRole("button", { name: "web/b.ts" }));
  expect(open.mock.calls.map(([one]) => [one.path, one.line])).toEqual([
    ["src/a.py", 3],
    ["web/b.ts", 0],
  ]);
});

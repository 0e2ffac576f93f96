import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { Ansi } from "./ansi-view.tsx";
import { LongText } from "./long-text.tsx";

test("output has its colours as classes", () => {
  const text = "\u001b[32mok\u001b[0m 1 \u001b[38;5;208mwarm\u001b[0m";
  const { container } = render(<Ansi text={text} label="Output of make" />);
  expect(screen.getByRole("group", { name: "Output of make" }).textContent).toBe("ok 1 warm");
  expect(screen.getByText("ok").className).toBe("ansi-fg-green");
  const warm = screen.getByText("warm");
  expect(warm.style.getPropertyValue("--ansi-fg")).toBe("rgb(255, 135, 0)");
  expect(container.querySelectorAll("[style]")).toHaveLength(1);
});

test("a long text shows its ends, and all of it when asked", async () => {
  const fetchAll = vi.fn();
  const text = `start ${"x".repeat(1000)} end`;
  render(
    <LongText text={text} limit={100} onShowAll={fetchAll}>
      {(part) => <p>{part}</p>}
    </LongText>,
  );
  expect(screen.getByText(/^start/).textContent?.length).toBeLessThan(100);
  expect(screen.getByText(/end$/)).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show all (910 bytes more)" }));
  expect(screen.getByText(/^start.*end$/).textContent).toBe(text);
  expect(fetchAll).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole("button")).toBeNull();
});

test("a text of which only a part was sent can be asked for", async () => {
  const fetchAll = vi.fn();
  render(
    <LongText text="part" total={5000} onShowAll={fetchAll}>
      {(part) => <p>{part}</p>}
    </LongText>,
  );
  await userEvent.click(screen.getByRole("button", { name: "Show all (5 KB more)" }));
  expect(fetchAll).toHaveBeenCalledTimes(1);
});

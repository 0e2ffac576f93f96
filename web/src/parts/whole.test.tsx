import { render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Whole } from "./whole.tsx";

const show = (text: string) => <p data-testid="shown">{text}</p>;

afterEach(() => vi.unstubAllGlobals());

function gatewayHas(text: string): { asked: string[]; answer: () => void } {
  const asked: string[] = [];
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    await answered;
    return new Response(text);
  });
  return { asked, answer };
}

test("a text that grew too long while it was read stays as it is until the whole is here", async () => {
  const { asked, answer } = gatewayHas("one two three four");
  const { rerender } = render(
    <Whole text="one two three" blob="" eager>
      {show}
    </Whole>,
  );
  rerender(
    <Whole text="one" blob="digest-a" eager>
      {show}
    </Whole>,
  );
  expect(screen.getByTestId("shown").textContent).toBe("one two three");
  answer();
  await waitFor(() => expect(screen.getByTestId("shown").textContent).toBe("one two three four"));
  expect(asked).toHaveLength(1);
  expect(screen.queryByRole("button")).toBeNull();
});

test("what was fetched once is there at once the next time", async () => {
  const { asked, answer } = gatewayHas("one and two");
  answer();
  const whole = (
    <Whole text="one" blob="digest-b" eager>
      {show}
    </Whole>
  );
  const first = render(whole);
  await waitFor(() => expect(screen.getByTestId("shown").textContent).toBe("one and two"));
  first.unmount();
  render(whole);
  expect(screen.getByTestId("shown").textContent).toBe("one and two");
  expect(asked).toHaveLength(1);
});

test("what nobody was reading is fetched when somebody wants it", () => {
  const { asked } = gatewayHas("all");
  render(
    <Whole text="one" blob="digest-c">
      {show}
    </Whole>,
  );
  expect(screen.getByRole("button", { name: "Show all of it" })).toBeTruthy();
  expect(asked).toEqual([]);
});

import { render, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { AppContext } from "../parts/use-store.ts";
import { pageApp } from "../../tests/started.ts";
import { HistoryPage } from "./history.tsx";

afterEach(() => vi.unstubAllGlobals());

const ONE = { conversation: "c1", title: "Paint the boat", kind: "claude", agent: "claude" };
const TWO = { conversation: "c1", title: "A letter", kind: "courier", agent: "van" };

/** The page, with a gateway that has these conversations; the addresses it was asked for. */
function shown(answer: object): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    return Promise.resolve(Response.json(answer));
  });
  const app = pageApp();
  render(
    <AppContext value={app}>
      <HistoryPage />
    </AppContext>,
  );
  return asked;
}

const row = async (title: string): Promise<HTMLElement> =>
  (await screen.findByText(title)).closest("li")!;

test("the conversations of every kind are listed, with the name of the agent", async () => {
  const asked = shown({ conversations: [ONE, TWO], kinds: ["claude", "courier"], unread: [] });
  expect(within(await row("A letter")).getByText(/^van · /)).toBeTruthy();
  expect(within(await row("Paint the boat")).getByText(/^claude · /)).toBeTruthy();
  expect(new URL(asked[0]!, "http://x").searchParams.get("kind")).toBe("");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("where one kind has a history, its agent is not named", async () => {
  shown({ conversations: [TWO], kinds: ["courier"], unread: [] });
  expect(within(await row("A letter")).queryByText(/van/)).toBeNull();
});

test("a history that cannot be read is named", async () => {
  shown({ conversations: [ONE], kinds: ["claude"], unread: ["courier"] });
  expect((await screen.findByRole("alert")).textContent).toContain("could not be read: courier.");
});

import { act, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { FakeGateway } from "../../tests/fake-gateway.ts";
import { pageApp } from "../../tests/started.ts";
import { onSay } from "../notify/say.ts";
import { AppContext } from "../parts/use-store.ts";
import { rowOf } from "../store/rows.ts";
import { Alarms } from "./alarms.tsx";

test("web a01: an alarm of any session stays until somebody dismisses it", () => {
  localStorage.clear();
  const said: string[] = [];
  const stop = onSay((text, urgency) => said.push(`${urgency}: ${text}`));
  const app = pageApp(new FakeGateway([]));
  const alarm = { seq: 7, text: "The tool Bash ran.", advice: "Stop <b>the agent</b>." };
  render(
    <AppContext value={app}>
      <Alarms />
    </AppContext>,
  );
  expect(screen.queryByRole("region", { name: "Unseen alarm" })).toBeNull();
  const tell = (...rows: object[]): void =>
    act(() => {
      app.listing.rows = rows.map((row) => rowOf(row as Parameters<typeof rowOf>[0]));
      app.listing.emitter.touch("rows");
    });
  tell({ session: "s", title: "Boat", alarm }, { session: "quiet" });
  const notice = screen.getByRole("region", { name: "Unseen alarm" });
  expect(notice.textContent).toContain(
    "Alarm in Boat: The tool Bash ran. Stop <b>the agent</b>.", // as text
  );
  expect(said).toEqual(["assertive: Alarm: The tool Bash ran."]);
  tell({ session: "s", title: "Boat", status: "idle", alarm });
  expect(screen.getByRole("region", { name: "Unseen alarm" })).toBeTruthy();
  act(() => screen.getByText("Dismiss").click());
  expect(screen.queryByRole("region", { name: "Unseen alarm" })).toBeNull();
  stop();
});

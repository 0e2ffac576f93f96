import { act, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { VIEW } from "../dock/page.testing.tsx";
import { SessionStore } from "../store/session.ts";
import { OldAgent } from "./old-agent.tsx";

function looks(store: SessionStore, agent_io?: string): void {
  const state = agent_io === undefined ? VIEW : { ...VIEW, agent_io };
  act(() => store.show({ type: "view", session: "s", seq: 1, state }));
}

test("web a01: an agent on pipes is to be restarted, others are not mentioned", () => {
  const store = new SessionStore("s", (run) => run());
  render(<OldAgent store={store} />);
  expect(screen.queryByRole("note")).toBeNull();
  looks(store, "pipes");
  expect(screen.getByRole("note").textContent).toMatch(
    /Restart this session’s agent to protect its prompts from other programs of the same user/,
  );
  expect(screen.getByText("flybridge sessions kill s")).toBeTruthy();
  for (const fine of ["sockets", "", undefined]) {
    looks(store, fine);
    expect(screen.queryByRole("note")).toBeNull();
  }
});

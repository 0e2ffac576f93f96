import { expect, test } from "vitest";
import type { Conversation } from "../history/conversations.ts";
import { begun } from "./latest.ts";
import { type Draft, EMPTY } from "./start-form.ts";

const DRAFT: Draft = { ...EMPTY, agent: "claude", cwd: "/w", start: "continue" };

function found(session = ""): () => Promise<readonly Conversation[]> {
  const one: Conversation = {
    id: "c1",
    title: "",
    prompt: "",
    cwd: "/w",
    model: "",
    branch: "",
    startedMs: 0,
    modifiedMs: 0,
    size: 0,
    session,
  };
  return () => Promise.resolve([one, { ...one, id: "older", session: "" }]);
}

test("the latest conversation is resumed by its name, so that it is shown", async () => {
  expect(await begun(DRAFT, found())).toEqual({
    draft: { ...DRAFT, start: "resume", resume: "c1" },
  });
});

test("one that is open already is shown, and not opened twice", async () => {
  expect(await begun(DRAFT, found("s1"))).toEqual({ session: "s1" });
});

test("a copy of one that is open is a session of its own", async () => {
  const fork = { ...DRAFT, fork: true };
  expect(await begun(fork, found("s1"))).toEqual({
    draft: { ...fork, start: "resume", resume: "c1" },
  });
});

test.each([
  ["none is known", DRAFT, () => Promise.resolve([])],
  ["none may be looked at", DRAFT, () => Promise.reject(new Error("no"))],
  ["they are another agent's", { ...DRAFT, agent: "demo" }, found()],
  ["it begins anew", { ...DRAFT, start: "new" as const }, found()],
])("where %s it is left to the agent", async (_, draft, find) => {
  expect(await begun(draft, find)).toEqual({ draft });
});

import { expect, test } from "vitest";
import type { Conversation, Listed } from "../history/conversations.ts";
import { begun } from "./latest.ts";
import { type Draft, EMPTY } from "./start-form.ts";

const DRAFT: Draft = { ...EMPTY, agent: "van", cwd: "/w", start: "continue" };

const listed = (...conversations: Conversation[]): Listed => ({
  conversations,
  kinds: ["courier"],
  unread: [],
});

function found(session = ""): () => Promise<Listed> {
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
    kind: "courier",
    agent: "van",
  };
  return () => Promise.resolve(listed(one, { ...one, id: "older", session: "" }));
}

test("the latest conversation is resumed by its name, so that it is shown", async () => {
  expect(await begun(DRAFT, "courier", found())).toEqual({
    draft: { ...DRAFT, start: "resume", resume: "c1" },
  });
});

test("one that is open already is shown, and not opened twice", async () => {
  expect(await begun(DRAFT, "courier", found("s1"))).toEqual({ session: "s1" });
});

test("a copy of one that is open is a session of its own", async () => {
  const fork = { ...DRAFT, fork: true };
  expect(await begun(fork, "courier", found("s1"))).toEqual({
    draft: { ...fork, start: "resume", resume: "c1" },
  });
});

test("only the history of the agent's own kind and of the folder is looked at", async () => {
  const asked: unknown[] = [];
  await begun(DRAFT, "courier", (...query) => {
    asked.push(query);
    return Promise.resolve(listed());
  });
  expect(asked).toEqual([["courier", 0, "/w"]]);
});

test.each([
  ["none is known", DRAFT, "courier", () => Promise.resolve(listed())],
  ["none may be looked at", DRAFT, "courier", () => Promise.reject(new Error("no"))],
  ["the agent has no history", DRAFT, "", found()],
  ["it begins anew", { ...DRAFT, start: "new" as const }, "courier", found()],
])("where %s it is left to the agent", async (_, draft, kind, find) => {
  expect(await begun(draft, kind, find)).toEqual({ draft });
});

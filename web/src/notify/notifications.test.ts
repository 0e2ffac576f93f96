import { expect, test } from "vitest";
import { rowOf } from "../store/rows.ts";
import { type Waiting, waitingOf } from "../store/prompts.ts";
import { boundary } from "./boundaries.ts";
import { Notifications, pageTitle, toldOf } from "./notifications.ts";

function asked(session: string, prompt: string): Waiting {
  const one = waitingOf({ session, prompt, kind: "permission", tool: "Bash", title: session });
  if (one === undefined) throw new Error("no prompt");
  return one;
}

function listener(): {
  told: Notifications;
  shown: string[];
  rings: () => number;
  opened: string[];
  click: Map<string, () => void>;
} {
  const shown: string[] = [];
  const opened: string[] = [];
  const click = new Map<string, () => void>();
  let rings = 0;
  const told = new Notifications(
    (one, clicked) => {
      shown.push(one.tag);
      click.set(one.tag, clicked);
      return { close: () => shown.splice(shown.indexOf(one.tag), 1) };
    },
    (one) => opened.push(one.session),
    () => (rings += 1),
  );
  return { told, shown, rings: () => rings, opened, click };
}

const NOBODY = (): boolean => false;

test("each prompt is told once, and withdrawn when it is answered elsewhere", () => {
  const { told, shown } = listener();
  told.update([asked("a", "1"), asked("b", "2")], NOBODY, true);
  told.update([asked("a", "1"), asked("b", "2")], NOBODY, true);
  expect(shown).toEqual(["1", "2"]);
  told.update([asked("b", "2")], NOBODY, true);
  expect(shown).toEqual(["2"]);
});

test("nobody is told of what they look at", () => {
  const { told, shown, rings } = listener();
  told.update([], NOBODY, true);
  told.update([asked("a", "1")], (session) => session === "a", true);
  expect([shown, rings()]).toEqual([[], 0]);
  told.update([asked("a", "1")], NOBODY, true); // they have seen it before they left
  expect(shown).toEqual([]);
});

test("looking at the session withdraws what was said about it", () => {
  const { told, shown } = listener();
  const all = [asked("a", "1"), asked("b", "2")];
  told.update(all, NOBODY, true);
  told.withdraw(all, "a");
  expect(shown).toEqual(["2"]);
});

test("without consent there is a sound at most", () => {
  const { told, shown, rings } = listener();
  told.update([], NOBODY, false);
  told.update([asked("a", "1"), asked("b", "2")], NOBODY, false);
  expect([shown, rings()]).toEqual([[], 1]);
});

test("what waited before the page was there does not ring", () => {
  const { told, rings } = listener();
  told.update([asked("a", "1")], NOBODY, true);
  expect(rings()).toBe(0);
});

test("a click leads to the session", () => {
  const { told, opened, click } = listener();
  told.update([asked("a", "1")], NOBODY, true);
  click.get("1")?.();
  expect(opened).toEqual(["a"]);
});

test("a notification says whose prompt it is and what is wanted", () => {
  expect(toldOf(asked("a", "1"))).toEqual({ title: "a", body: "Wants to run a command", tag: "1" });
});

test.each([
  [0, "", "Flybridge"],
  [2, "", "(2) Flybridge"],
  [1, "Parser", "(1) Parser · Flybridge"],
])("the title counts %i for %j", (waiting, name, title) => {
  expect(pageTitle(waiting, name)).toBe(title);
});

test.each([
  ["idle", "nothing", "running", "model", true, "Started."],
  ["running", "model", "idle", "nothing", true, "Finished."],
  ["running", "model", "idle", "nothing", false, undefined],
  ["running", "model", "running", "permission", false, "s: Wants to run a command."],
  ["running", "model", "running", "tool", true, undefined],
])("from %s/%s to %s/%s (here: %s) is read out as %j", (was, why, is, next, here, text) => {
  const before = rowOf({ session: "s", status: was, why });
  const prompts = next === "permission" ? 1 : 0;
  const now = rowOf({ session: "s", status: is, why: next, prompts, tool: "Bash" });
  expect(boundary(before, now, here)?.text).toBe(text);
});

test("a failure is said at once, wherever it was", () => {
  const before = rowOf({ session: "s", status: "running", why: "model" });
  const now = rowOf({ session: "s", status: "idle", why: "nothing", ended: "error" });
  expect(boundary(before, now, false)).toEqual({
    text: "s: the turn failed.",
    urgency: "assertive",
  });
});

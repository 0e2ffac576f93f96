// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { anchorsIn, drift } from "./anchor.ts";

/** A box whose upper edge is at 100, with lines of which each knows where it stands. */
function box(...lines: readonly HTMLElement[]): HTMLElement {
  const made = placed(document.createElement("div"), 100, 400);
  made.append(...lines);
  document.body.replaceChildren(made);
  return made;
}

function placed(element: HTMLElement, top: number, bottom: number): HTMLElement {
  element.getBoundingClientRect = () => new DOMRect(0, top, 100, bottom - top);
  return element;
}

function line(id: string, top: number, bottom: number, ...inside: HTMLElement[]): HTMLElement {
  const made = placed(document.createElement("div"), top, bottom);
  made.dataset["entry"] = id;
  made.append(...inside);
  return made;
}

const alone = (): string => "";

test("what is read begins at the upper edge, with the innermost line there", () => {
  const inner = [line("b1", 20, 90), line("b2", 90, 200)];
  const found = anchorsIn(box(line("a", 0, 20), line("b", 20, 200, ...inner), line("c", 200, 300)));
  expect(found.map((one) => [one.id, one.top])).toEqual([
    ["b2", 90],
    ["c", 200],
  ]);
});

test("a line that was drawn anew elsewhere is found by its name", () => {
  const before = anchorsIn(box(line("a", 110, 150)));
  expect(drift(box(line("old", 0, 300), line("a", 300, 340)), before, alone)).toBe(190);
});

test("a line that older ones joined is the one that has it now", () => {
  const before = anchorsIn(box(line("group:a", 110, 150)));
  const joined = line("group:z", 310, 350);
  joined.dataset["members"] = "z y a";
  expect(drift(box(joined), before, alone)).toBe(200);
  joined.append(line("z", 330, 340), line("a", 340, 350));
  expect(drift(box(joined), before, alone)).toBe(230);
});

test("what turns out to be a sub-agent's is where its call is", () => {
  const before = anchorsIn(box(line("a", 110, 150), line("b", 150, 190)));
  const now = box(line("call", 260, 300), line("b", 300, 340));
  expect(drift(now, before, (id) => (id === "a" ? "call" : ""))).toBe(150);
});

test("of what is gone, the next line is held", () => {
  const before = anchorsIn(box(line("a", 110, 150), line("b", 150, 190)));
  expect(drift(box(line("b", 180, 220)), before, alone)).toBe(30);
  expect(drift(box(), before, alone)).toBe(0);
});

import { expect, test } from "vitest";
import { Drafts } from "./drafts.ts";

class Memory {
  readonly all = new Map<string, string>();
  getItem(key: string): string | null {
    return this.all.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.all.set(key, value);
  }
}

const words = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

test("a draft is there again, in its own session only", () => {
  const shelf = new Memory();
  new Drafts(shelf, "draft", words).set("a", "half a thought");
  const again = new Drafts(shelf, "draft", words);
  expect(again.get("a")).toBe("half a thought");
  expect(again.get("b")).toBeUndefined();
  again.set("a", undefined);
  expect(again.get("a")).toBeUndefined();
});

test("what makes no sense, or is too large, is as if it were not there", () => {
  const shelf = new Memory();
  const drafts = new Drafts(shelf, "draft", words);
  shelf.setItem("flybridge.draft:a", "{");
  expect(drafts.get("a")).toBeUndefined();
  shelf.setItem("flybridge.draft:a", "5");
  expect(drafts.get("a")).toBeUndefined();
  drafts.set("a", "x".repeat(1_000_001));
  expect(drafts.get("a")).toBeUndefined();
});

test("a browser that keeps nothing is no failure", () => {
  const refuses = {
    getItem: (): string => {
      throw new Error("denied");
    },
    setItem: (): void => {
      throw new Error("full");
    },
  };
  const drafts = new Drafts(refuses, "draft", words);
  drafts.set("a", "text");
  expect(drafts.get("a")).toBeUndefined();
});

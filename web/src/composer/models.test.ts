import { expect, test } from "vitest";
import { modelInUse, modelsOf } from "./models.ts";

const NEW = modelsOf([
  {
    id: "default",
    resolved: "claude-opus-5-5",
    name: "Default (recommended)",
    efforts: ["low", "high"],
    fast: true,
  },
  { id: "opus", resolved: "claude-opus-5-5", name: "Opus", efforts: ["low", "high"], fast: true },
  { id: "haiku", resolved: "claude-haiku-5-5", name: "Haiku", efforts: [], fast: false },
  { name: "no id" },
]);
const OLD = modelsOf(
  ["default", "opus", "opus[1m]", "haiku"].map((id) => ({ id, efforts: null, fast: null })),
);

test.each([
  [NEW, "claude-opus-5-5", "opus"],
  [NEW, "claude-haiku-5-5", "haiku"],
  [NEW, "default", "default"],
  [OLD, "haiku", "haiku"],
  [OLD, "claude-haiku-4-5-20251001", "haiku"],
  [OLD, "claude-opus-4-6[1m]", "opus[1m]"],
  [OLD, "claude-sonnet-4-5", undefined],
  [OLD, "", undefined],
])("of %#, %s is shown as %s", (models, model, wanted) => {
  expect(modelInUse(models, model)?.value).toBe(wanted);
});

test("a default that is on no list under its own name is the default", () => {
  expect(modelInUse(NEW.slice(0, 1), "claude-opus-5-5")?.value).toBe("default");
});

test("what a model can be told is said for each, where the agent says it", () => {
  expect(NEW.map((one) => [one.efforts, one.fast])).toEqual([
    [["low", "high"], true],
    [["low", "high"], true],
    [[], false],
  ]);
  expect(OLD.every((one) => one.efforts === undefined && one.fast === undefined)).toBe(true);
});

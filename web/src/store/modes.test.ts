import { expect, test } from "vitest";
import { NO_MODES, effortsInOrder, modeAbout, modeName, modesOf } from "./modes.ts";

const MODES = modesOf([
  {
    id: "default",
    freedom: 0,
    name: "Ask first",
    description: "It asks before it changes anything",
  },
  { id: "free", freedom: 3 },
]);

test("a mode has the name and the description that its agent publishes", () => {
  expect(modeName(MODES, "default")).toBe("Ask first");
  expect(modeAbout(MODES, "default")).toBe("It asks before it changes anything");
});

test.each([
  ["without a name", MODES, "free"],
  ["that is not published", MODES, "odd"],
  ["of an agent that publishes none", NO_MODES, "default"],
  ["of a gateway that does not tell", modesOf(undefined), "default"],
])("a mode %s is shown by its id", (_, modes, mode) => {
  expect([modeName(modes, mode), modeAbout(modes, mode)]).toEqual([mode, ""]);
});

test("efforts stand from the least to the most", () => {
  expect(effortsInOrder(["high", "low", "max", "medium", "xhigh"])).toEqual([
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
  ]);
});

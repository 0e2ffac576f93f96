import { expect, test } from "vitest";
import { Bash } from "./bash.tsx";
import { Generic } from "./generic.tsx";
import { bodyOf } from "./registry.tsx";

test.each(["constructor", "__proto__", "toString", "hasOwnProperty", ""])(
  "a tool that is called %s is one nobody has told us about",
  (name) => {
    expect(bodyOf(name)).toBe(Generic);
    expect(bodyOf("Bash")).toBe(Bash);
  },
);

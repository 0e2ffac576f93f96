import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("light-dark() is given colours: of a whole shadow it makes none", () => {
  const source = new URL("..", import.meta.url);
  const wrong = globSync("**/*.css", { cwd: source }).flatMap((path) => {
    const css = readFileSync(new URL(path, source), "utf8");
    return css.match(/light-dark\((?!\s*(?:oklch\(|#|var\())[^;]*/g) ?? [];
  });
  expect(wrong).toEqual([]);
});

import { expect, test } from "vitest";
import { isAnother } from "./page.ts";

const MINE = "https://fly.example/boat/assets/index-Ab12Cd34.js";
const shell = (src: string): string =>
  `<script type="module" crossorigin src="${src}"></script><body><div id="root"></div></body>`;

test.each([
  ["the page that is here", shell("/boat/assets/index-Ab12Cd34.js"), false],
  ["the page of another build", shell("/boat/assets/index-Zz98Yy76.js"), true],
  ["a login of a proxy", "<form>Who are you?</form>", false],
])("%s", (_, html, another) => {
  expect(isAnother(html, MINE)).toBe(another);
});

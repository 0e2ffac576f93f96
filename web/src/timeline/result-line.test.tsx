import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { ResultItem } from "../store/items.ts";
import { ResultLine } from "./result-line.tsx";

const ENDED: ResultItem = {
  id: "r",
  parent: "",
  atMs: 775_000 + 1000,
  seq: 1,
  past: false,
  kind: "result",
  turn: "t",
  reason: "done",
  message: "",
  costUsd: 0,
  startedMs: 1000,
  waitedMs: 0,
  usage: undefined,
  detail: undefined,
  added: 0,
  removed: 0,
};

test.each([
  [0, "Done · 12 min 55 s"],
  [999, "Done · 12 min 55 s"],
  [771_000, "Done · 4.0 s + 12 min 51 s waiting"],
  [900_000, "Done · 0.0 s + 12 min 55 s waiting"],
])("web_b17: of a turn that waited %i ms the line says %s", (waitedMs, text) => {
  render(<ResultLine item={{ ...ENDED, waitedMs }} told={false} />);
  expect(screen.getByText(text)).toBeTruthy();
});

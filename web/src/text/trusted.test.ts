import { expect, test, vi } from "vitest";
import { workerAddress } from "./trusted.ts";

test("only our own addresses are blessed, by one policy", () => {
  vi.stubGlobal("location", new URL("https://here.example/s/1"));
  expect(workerAddress("/assets/worker.js")).toBe("/assets/worker.js");
  expect(() => workerAddress("https://evil.example/worker.js")).toThrow("not ours");

  const createPolicy = vi.fn((_: string, rules: object) => rules);
  vi.stubGlobal("trustedTypes", { createPolicy });
  expect(workerAddress("/assets/worker.js")).toBe("/assets/worker.js");
  expect(workerAddress("/assets/other.js")).toBe("/assets/other.js");
  expect(() => workerAddress("https://evil.example/worker.js")).toThrow("not ours");
  expect(createPolicy).toHaveBeenCalledTimes(1);
  expect(createPolicy.mock.calls[0]?.[0]).toBe("gateway");
});

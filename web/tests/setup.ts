// What one test did, the next does not find; and what is made up is the same in every run.
import { configureGlobal } from "fast-check";
import { afterEach, vi } from "vitest";

configureGlobal({ seed: 1 });
afterEach(() => {
  vi.useRealTimers();
});

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Tests beside the sources: *.test.ts is logic and runs without a document, *.test.tsx has one.
// Files share a worker and its modules, which is twice as fast: a test leaves nothing behind, see
// tests/setup.ts. `vitest run --sequence.shuffle` tells one that does.
const WITH_DOCUMENT = {
  environment: "happy-dom",
  setupFiles: ["tests/setup.ts", "tests/setup-document.ts"],
};
// The page has one colouring worker, and gives it up where none can be started: here it must be new.
const ALONE = ["src/text/code.test.tsx"];

export default defineConfig({
  plugins: [react()],
  test: {
    testTimeout: 60_000, // a bound for what hangs, on a machine that has much else to do
    pool: "threads",
    isolate: false,
    maxWorkers: "100%", // the first process only waits for them
    restoreMocks: true,
    unstubGlobals: true,
    projects: [
      {
        extends: true,
        test: {
          name: "logic",
          include: ["src/**/*.test.ts"],
          environment: "node",
          setupFiles: ["tests/setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "parts",
          include: ["src/**/*.test.tsx"],
          exclude: ALONE,
          ...WITH_DOCUMENT,
        },
      },
      {
        extends: true,
        test: { name: "alone", include: ALONE, isolate: true, ...WITH_DOCUMENT },
      },
    ],
  },
});

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Tests beside the sources: *.test.ts is logic and runs without a document, *.test.tsx has one.
export default defineConfig({
  plugins: [react()],
  test: {
    testTimeout: 10_000,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: { name: "logic", include: ["src/**/*.test.ts"], environment: "node" },
      },
      {
        extends: true,
        test: {
          name: "parts",
          include: ["src/**/*.test.tsx"],
          environment: "happy-dom",
          setupFiles: ["tests/setup.ts"],
        },
      },
    ],
  },
});

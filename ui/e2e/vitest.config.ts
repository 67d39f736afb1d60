import { defineConfig } from "vitest/config";

// Stories in real windows: one file at a time, each with a broker of its own.
export default defineConfig({
  test: {
    environment: "node",
    include: ["e2e/*.e2e.ts"],
    fileParallelism: false,
    reporters: ["verbose"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds a running switchboardd. */
const broker = process.env.SWITCHBOARD_URL ?? "http://127.0.0.1:7892";

export default defineConfig({
  // The same files are served under /console/ and from inside the desktop app.
  base: "./",
  plugins: [svelte()],
  build: {
    target: "es2022",
    // A strict content policy allows no data: URLs, so nothing may be inlined.
    assetsInlineLimit: 0,
    // The policy allows no inline scripts either, and every browser we meet preloads modules itself.
    modulePreload: false,
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    // A test reads the corpus of links, which the desktop app's tests read too.
    fs: { allow: [".", "../fuzz/corpus"] },
    proxy: {
      // The broker refuses foreign origins; to it, the development server is itself.
      "/console/call": { target: broker, changeOrigin: true, headers: { origin: broker } },
      "/console/feed": {
        target: broker,
        changeOrigin: true,
        ws: true,
        headers: { origin: broker },
      },
    },
  },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : {},
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/testing/setup.ts"],
    testTimeout: 20_000,
    restoreMocks: true,
    unstubGlobals: true,
  },
});

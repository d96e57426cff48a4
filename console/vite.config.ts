import vue from "@vitejs/plugin-vue";
import { defineConfig } from "vitest/config";

/** Where `deno task start` serves the console and its `config.json`. */
const LOCAL_CONSOLE_URL = "http://127.0.0.1:54323";

export default defineConfig({
  plugins: [vue()],
  // Relative, so that one build works in any folder of any host.
  base: "./",
  build: {
    // No `data:` scripts or styles: the policy allows only files of this origin.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    rolldownOptions: {
      output: {
        // What the first page always loads is one file, which compresses better than fifty.
        codeSplitting: { groups: [{ name: "start", tags: ["$initial"] }] },
      },
    },
  },
  server: { host: "127.0.0.1", proxy: { "/config.json": LOCAL_CONSOLE_URL } },
  // The default of 5 s is too short for a page on a machine that does other work.
  test: { environment: "happy-dom", include: ["src/**/*_test.ts"], testTimeout: 60_000 },
});

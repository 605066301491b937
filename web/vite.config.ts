import { defineConfig } from "vitest/config";

// Addresses are relative ("./assets/..."): Warren writes them as deep as the link is, and a proxy may add a prefix.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/warren/serve/static",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: { include: ["test/**/*.test.ts"] },
});

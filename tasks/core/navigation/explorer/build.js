/** Bundles the page's program and its style: `source/` goes in, `bundle/` comes out, the same bytes each time. */
import { build } from "esbuild";

const folder = process.argv[2] ?? "bundle";

await build({
  entryPoints: { explorer: "source/main.jsx" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome110", "firefox115", "safari16.4"],
  charset: "utf8",
  legalComments: "eof",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});

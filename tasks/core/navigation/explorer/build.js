/** Bundles the page's program and its style: `source/` goes in, `bundle/` comes out, the same bytes each time. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

import { build } from "esbuild";

const folder = process.argv[2] ?? "bundle";

const { metafile } = await build({
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
  metafile: true,
});

/** The libraries whose code is in the bundle: they are copied with it, so their licences are as well. */
const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));

/** @param {string} name */
function licence(name) {
  const place = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${place}/package.json`, "utf8"));
  const file = readdirSync(place).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
  if (!file) throw new Error(`${name} has no licence file: write down what allows its use, or leave it out`);
  return { title: `${name} ${version} (${license})`, text: readFileSync(`${place}/${file}`, "utf8").trim().replaceAll("\r", "") };
}

/** Libraries by the text of their licence. @type {Map<string, string[]>} */
const texts = new Map();
for (const name of [...packages].sort()) {
  const { title, text } = licence(name);
  texts.set(text, [...(texts.get(text) ?? []), title]);
}
const notices = [...texts].map(([text, titles]) => `${titles.join("\n")}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`);
const head = "The page's program (explorer.js) holds code of these libraries.\n\n";
writeFileSync(`${folder}/LICENSES.txt`, head + notices);
const program = readFileSync(`${folder}/explorer.js`, "utf8");
writeFileSync(`${folder}/explorer.js`, `/*!\n${head}${notices}*/\n${program}`);

// Bundles src/ into dist/report.js and dist/report.css, which the tool embeds.
// `node build.mjs FOLDER` writes there instead.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
mkdirSync(out, { recursive: true });

const options = {
  absWorkingDir: here,
  entryPoints: { report: "src/main.js" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
};

// The licences of the bundled packages stand at the head of the script, each text once, and so in every page.
function licences(inputs) {
  const names = new Map();
  for (const input of inputs) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (!name) continue;
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = readFileSync(join(folder, file), "utf8").trim();
    names.set(text, (names.get(text) ?? new Set()).add(name));
  }
  const parts = [...names].map(([text, packages]) => `${[...packages].sort().join(", ")}:\n\n${text}`).sort();
  return `/*\nThis script contains the following packages.\n\n${parts.join("\n\n")}\n*/`;
}

const { metafile } = await build({ ...options, metafile: true, write: false });
await build({ ...options, banner: { js: licences(Object.keys(metafile.inputs)) } });

// The hash of the sources: with it a test without npm can tell whether dist/ is up to date.
const hash = createHash("sha256");
for (const file of ["build.mjs", "package-lock.json", ...readdirSync(join(here, "src")).sort().map((name) => `src/${name}`)]) {
  hash.update(readFileSync(join(here, file)));
}
writeFileSync(join(out, "sources.sha256"), hash.digest("hex") + "\n");

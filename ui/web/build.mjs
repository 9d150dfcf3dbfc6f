// Builds the page into ../assets: one script, one chunk for what only the form needs, one style sheet and index.html. The same sources give the same
// bytes, so that CI can build again and compare. Names have a hash of the content, so that the server may let browsers cache them for ever.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "assets");
const limit = 300 * 1024;

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", style: "src/style.css" },
  outdir: out,
  entryNames: "assets/[name]-[hash]",
  chunkNames: "assets/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  write: false,
  metafile: true,
});

const named = (prefix, ext) => {
  const file = result.outputFiles.find((f) => basename(f.path).startsWith(prefix) && f.path.endsWith(ext));
  return "/assets/" + basename(file.path);
};
const icon = readFileSync(join(here, "src", "icon.svg"));
const iconName = `assets/icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8).toUpperCase()}.svg`;
const index = readFileSync(join(here, "src", "index.html"), "utf8")
  .replace("{{script}}", named("app-", ".js"))
  .replace("{{style}}", named("style-", ".css"))
  .replace("{{icon}}", "/" + iconName);

// The licences of what is bundled, as their texts ask for.
const packages = [...new Set(Object.keys(result.metafile.inputs)
  .map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))].sort();
const licences = packages.map((name) => {
  const root = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return `${name} ${version} (${license})\n\n${readFileSync(join(root, "LICENSE"), "utf8").trim()}\n`;
}).join("\n----\n\n");

const files = [
  ["index.html", Buffer.from(index)],
  [iconName, icon],
  ["assets/licences.txt", Buffer.from(licences)],
  ...result.outputFiles.map((f) => ["assets/" + basename(f.path), Buffer.from(f.contents)]),
];
rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "assets"), { recursive: true });
let total = 0;
for (const [name, content] of files) {
  writeFileSync(join(out, name), content);
  const size = gzipSync(content, { level: 9 }).length;
  total += size;
  console.log(`${name}: ${content.length} bytes, ${size} compressed`);
}
console.log(`total: ${total} bytes compressed`);
if (total > limit) {
  throw new Error(`the page has ${total} bytes compressed; the limit is ${limit}`);
}

// Builds the peers' page into a directory, for the benchmark: node peers/build.mjs DIR
import { build } from "esbuild";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const out = process.argv[2];
await build({
  absWorkingDir: dirname(fileURLToPath(import.meta.url)),
  entryPoints: ["peer.mjs"],
  outfile: join(out, "peer.js"),
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  external: ["web-worker"],
});
writeFileSync(
  join(out, "index.html"),
  `<!doctype html><meta charset="utf-8"><title>peer</title><body style="margin:0"><script type="module" src="peer.js"></script>`,
);

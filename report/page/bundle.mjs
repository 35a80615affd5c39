// Bundles what page.js draws with into plot.js, with the licences on top, since every report is a copy; and takes the style that
// the library puts into each chart into plot.css, since the page's policy must name it. Run by make charts, beside node_modules.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const out = process.argv[2];
const { metafile } = await build({ entryPoints: ["charts.mjs"], bundle: true, minify: true, write: false, format: "iife", globalName: "Plot", charset: "ascii", legalComments: "none", metafile: true });
const inputs = Object.values(metafile.outputs)[0].inputs;
const packages = [...new Set(Object.keys(inputs).map((k) => k.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))].sort();
const licences = new Map();
for (const name of packages) {
  const dir = `node_modules/${name}`;
  const file = readdirSync(dir).find((f) => /^licen/i.test(f));
  const text = readFileSync(`${dir}/${file}`, "utf8").trim();
  const version = JSON.parse(readFileSync(`${dir}/package.json`, "utf8")).version;
  licences.set(text, [...(licences.get(text) ?? []), `${name} ${version}`]);
}
const notice = [...licences].map(([text, names]) => `${names.join(", ")}\n\n${text}`).join("\n\n");
const result = await build({ entryPoints: ["charts.mjs"], bundle: true, minify: true, write: false, format: "iife", globalName: "Plot", charset: "ascii", legalComments: "none", banner: { js: `/*\n${notice}\n*/` } });
writeFileSync(`${out}/plot.js`, result.outputFiles[0].text);
writeFileSync(`${out}/plot.LICENSE`, notice + "\n");
const style = readFileSync("node_modules/@observablehq/plot/src/plot.js", "utf8").match(/append\("style"\)\.text\(\s*`([^`]*)`/)[1];
writeFileSync(`${out}/plot.css`, style.replaceAll("${className}", "chart") + "\n");

import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { brotliCompress, constants, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig } from "vite";

/** The first with light-dark() and :has(). docs/howto/serve.md says so. */
const BROWSERS = ["chrome123", "firefox121", "safari17.5"];
const TEXT = /\.(?:js|css|svg|webmanifest)$/; // index.html is filled in by the gateway
const WORTH_IT = 1024; // bytes; less fits in one packet anyway

/** Grammars of the highlighter are many and come one by one: their names say what they are. */
function chunkName({ moduleIds }: { moduleIds: string[] }): string {
  const grammar =
    moduleIds.length > 0 && moduleIds.every((one) => one.includes("/@shikijs/langs/"));
  return grammar ? "assets/lang-[name]-[hash].js" : "assets/[name]-[hash].js";
}

/** Writes a .br and a .gz beside every text: the gateway sends files and compresses nothing. */
function precompressed(): Plugin {
  let dir = "";
  return {
    name: "precompressed",
    apply: "build",
    configResolved(config) {
      dir = resolve(config.root, config.build.outDir);
    },
    async writeBundle() {
      const all = await readdir(dir, { recursive: true });
      await Promise.all(all.filter((one) => TEXT.test(one)).map((one) => compress(join(dir, one))));
    },
  };
}

/** The licence of a font goes where the font goes; of scripts, vite writes the list itself. */
function fontLicences(): Plugin {
  return {
    name: "font-licences",
    apply: "build",
    async generateBundle() {
      const fonts = ["@fontsource-variable/geist", "@fontsource-variable/geist-mono"];
      const texts = fonts.map((one) => readFile(join("node_modules", one, "LICENSE"), "utf8"));
      const source = (await Promise.all(texts)).join("\n");
      this.emitFile({ type: "asset", fileName: "licenses-fonts.txt", source });
    },
  };
}

async function compress(path: string): Promise<void> {
  const text = await readFile(path);
  if (text.length < WORTH_IT) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(text, { params }),
    promisify(gzip)(text, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}

export default defineConfig({
  base: "./", // the gateway may live below a path that only its proxy knows
  plugins: [react(), fontLicences(), precompressed()],
  css: {
    modules: { localsConvention: "camelCaseOnly" },
  },
  worker: { format: "es", rolldownOptions: { output: { chunkFileNames: chunkName } } },
  build: {
    outDir: "../src/flybridge/frontends/http/built",
    emptyOutDir: true,
    target: BROWSERS,
    cssTarget: BROWSERS,
    assetsInlineLimit: 0, // our policy allows no data: address for code, styles or fonts
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    rolldownOptions: { output: { chunkFileNames: chunkName } },
  },
});

/** The languages that can be coloured, and the names people call them by. */

export const LANGUAGES = [
  "bash",
  "c",
  "cpp",
  "csharp",
  "css",
  "diff",
  "docker",
  "go",
  "html",
  "ini",
  "java",
  "javascript",
  "json",
  "jsx",
  "kotlin",
  "make",
  "markdown",
  "php",
  "python",
  "ruby",
  "rust",
  "sql",
  "swift",
  "toml",
  "tsx",
  "typescript",
  "xml",
  "yaml",
] as const;

export type Language = (typeof LANGUAGES)[number];

const OTHER_NAMES: Readonly<Record<string, Language>> = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  h: "c",
  cc: "cpp",
  cxx: "cpp",
  hpp: "cpp",
  "c++": "cpp",
  cs: "csharp",
  "c#": "csharp",
  patch: "diff",
  dockerfile: "docker",
  containerfile: "docker",
  golang: "go",
  htm: "html",
  cfg: "ini",
  conf: "ini",
  properties: "ini",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsonc: "json",
  json5: "json",
  jsonl: "json",
  ipynb: "json",
  kt: "kotlin",
  kts: "kotlin",
  makefile: "make",
  mk: "make",
  md: "markdown",
  mdx: "markdown",
  py: "python",
  py3: "python",
  python3: "python",
  pyi: "python",
  rb: "ruby",
  rs: "rust",
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  svg: "xml",
  xhtml: "xml",
  yml: "yaml",
};

const KNOWN: ReadonlySet<string> = new Set(LANGUAGES);

/** The language of a fence's name, or nothing for one that is not coloured. */
export function languageOf(name: string): Language | null {
  const low = name.toLowerCase();
  if (Object.hasOwn(OTHER_NAMES, low)) return OTHER_NAMES[low] ?? null;
  return KNOWN.has(low) ? (low as Language) : null;
}

/** The language of a file, by the end of its name or by all of it. */
export function languageOfPath(path: string): Language | null {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  const dot = name.lastIndexOf(".");
  return languageOf(dot < 0 ? name : name.slice(dot + 1));
}

import { fileURLToPath } from "node:url";
import type { Patch } from "./vendored_modules.ts";

const FILE = "re2js/build/index.js";
const TABLES = JSON.stringify(fileURLToPath(new URL("unicode_tables.ts", import.meta.url)));

/**
 * Functions only test whether a pattern of ECMA-262 occurs in a text. The tables of Unicode come
 * from the JavaScript engine.
 */
export const UNUSED_RE2JS_CODE: readonly Patch[] = [
  {
    file: FILE,
    from: /^(?=\/\/ src\/UnicodeTables\.js$)/gm,
    to: `import { foldedRanges, PropertyTables } from ${TABLES};\n`,
  },
  ...Object.entries({
    CATEGORIES: "new PropertyTables()",
    FOLD_CATEGORIES: "new PropertyTables((name) => foldedRanges(name, UnicodeTables.CASE_ORBIT))",
  }).map(([name, tables]) => ({
    file: FILE,
    from: new RegExp(String.raw`^\tstatic ${name} = new LazyMap\(\{\n[^]*?^\t\}\);\n`, "gm"),
    to: `\tstatic ${name} = ${tables};\n`,
  })),
  ...["SCRIPTS", "FOLD_SCRIPT"].map((name) => ({
    file: FILE,
    from: new RegExp(String.raw`^\tstatic ${name} = new LazyMap\(\{\n[^]*?^\t\}\);\n`, "gm"),
    to: "",
  })),
  // Names that the package knows, but ECMA-262 does not.
  ...["Ascii", "Lc"].map((name) => ({
    file: FILE,
    from: new RegExp(String.raw`^\t\tif \(name === "${name}"\) return \{\n[^]*?^\t\t\};\n`, "gm"),
    to: "",
  })),
  {
    file: FILE,
    from: /^\t\tif \(UnicodeTables\.SCRIPTS\.has\(name\)\) return \{\n[^]*?^\t\t\};\n/gm,
    to: "",
  },
  // Only descriptions of patterns tell printable characters from others.
  { file: FILE, from: /^\tstatic _Print = null;\n/gm, to: "" },
  { file: FILE, from: /^\tstatic get Print\(\) \{\n[^]*?^\t\}\n/gm, to: "" },
  { file: FILE, from: "return Unicode.is(UnicodeTables.Print, r);", to: "return false;" },
  // Matches in bytes.
  {
    file: FILE,
    from: "if (Utils.isByteArray(input)) return this.re2Input.matchUTF8(input);\n",
    to: "",
  },
  { file: FILE, from: "re2.prefixUTF8 = Utils.stringToUtf8ByteArray(re2.prefix);\n", to: "" },
  // What finds, replaces and splits, and matches several patterns at once.
  ...[
    /^\tmatchWithGroup\([^]*?(?=^\};\n)/gm,
    /^\tstatic matches\(regex, input\) \{\n[^]*?(?=^\tconstructor\(pattern, flags\) \{\n)/gm,
    /^\tmatches\(input\) \{\n[^]*?(?=^\ttest\(input\) \{\n)/gm,
    /^\ttestExact\([^]*?(?=^\};\n)/gm,
    /^\tmatchSet\([^]*?^\t\}\n/gm,
    /^\tstatic compileSet\([^]*?^\t\}\n/gm,
    /^var (?:Matcher|RE2Set) = class[^]*?^\};\n/gm,
  ].map((from, place) => ({ file: FILE, from, to: "", matches: [1, 1, 1, 1, 2, 1, 2][place] })),
  { file: FILE, from: /^export \{.*\};\n/gm, to: "export { RE2JS };\n" },
];

import { join } from "node:path";

/** An installed package and its license. */
export interface PackageLicense {
  /** `name@version`. */
  readonly name: string;
  /** The license in its `package.json`, for example `MIT`. */
  readonly license: string;
  /** The text of its license and notice files; empty when it has none. */
  readonly text: string;
}

const LICENSE_FILE = /^(licen[cs]e|notice|copying)/i;

/** Reads the license of a package in `node_modules`. */
export async function readPackageLicense(folder: string): Promise<PackageLicense> {
  const manifest: { name: string; version: string; license?: string } = JSON.parse(
    await Deno.readTextFile(join(folder, "package.json")),
  );
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isFile && LICENSE_FILE.test(entry.name)) files.push(entry.name);
  }
  const texts = await Promise.all(
    files.sort().map((file) => Deno.readTextFile(join(folder, file))),
  );
  return {
    name: `${manifest.name}@${manifest.version}`,
    license: manifest.license ?? "not stated",
    text: texts.map((text) => text.replaceAll("\r\n", "\n").trim()).join("\n\n"),
  };
}

/** Writes all licenses as one file. Packages with the same text share it. */
export function renderLicenses(licenses: readonly PackageLicense[]): string {
  const sorted = [...licenses].sort((a, b) => a.name < b.name ? -1 : 1);
  const headingsOf = new Map<string, Set<string>>();
  for (const { name, license, text } of sorted) {
    const body = text === "" ? `${name} ships no license file.` : text;
    headingsOf.set(body, (headingsOf.get(body) ?? new Set()).add(`${name} (${license})`));
  }
  const sections = [...headingsOf].map(([text, headings]) =>
    `${RULE}\n${[...headings].join("\n")}\n${RULE}\n\n${text}\n`
  );
  return `Licenses of the npm packages whose code the files in this folder contain.\n\n${
    sections.join("\n")
  }`;
}

const RULE = "-".repeat(80);

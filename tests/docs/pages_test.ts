import assert from "node:assert/strict";
import { dirname, join, normalize } from "node:path";
import { ERROR_CODES, isErrorCode } from "../../shared/errors/codes.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";

const README_LINE_LIMIT = 150;
const TOP_PAGES = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "ARCHITECTURE.md", "llms.txt"];
/** Made by a command, for people who read the quickstart. */
const UNLISTED = ["docs/quickstart-session.md"];

async function docsPages(folder = "docs"): Promise<string[]> {
  const pages: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(PROJECT_ROOT, folder))) {
    if (isDirectory) pages.push(...await docsPages(`${folder}/${name}`));
    if (name.endsWith(".md")) pages.push(`${folder}/${name}`);
  }
  return pages.sort();
}

async function read(page: string): Promise<string> {
  return await Deno.readTextFile(join(PROJECT_ROOT, page));
}

/** The targets of a page's links to files of the project, without anchors. */
function localLinks(page: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^(https?:|#|mailto:)/.test(target))
    .map((target) => normalize(join(dirname(page), target.split("#")[0] ?? "")));
}

Deno.test("each link of a page to a file of the project leads somewhere", async () => {
  const missing: string[] = [];
  for (const page of [...TOP_PAGES, ...await docsPages()]) {
    for (const target of localLinks(page, await read(page))) {
      const exists = await Deno.stat(join(PROJECT_ROOT, target)).then(() => true, () => false);
      if (!exists) missing.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(missing, []);
});

Deno.test("llms.txt lists every page of the docs", async () => {
  const listed = new Set(localLinks("llms.txt", await read("llms.txt")));
  const left = (await docsPages()).filter((page) => !listed.has(page) && !UNLISTED.includes(page));

  assert.deepEqual(left, []);
});

Deno.test("the redrive example names an error that leaves a dead letter", async () => {
  const page = await read("docs/operations.md");
  const code = /redrive\(id\) from dead_letters where error ->> 'code' = '(\w+)'/.exec(page)?.[1];

  assert.ok(code !== undefined && isErrorCode(code), `${code} is an error code`);
  assert.ok(ERROR_CODES[code].retryable, `${code} is retried, so that attempts can run out`);
});

Deno.test("the README fits into 150 lines", async () => {
  assert.ok((await read("README.md")).split("\n").length <= README_LINE_LIMIT);
});

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type BundleSize, measureBundle } from "../../../scripts/deploy/bundle_size.ts";

const ENTRY = "supabase/functions/f/index.ts";
/** Its folder has about 20 kB. */
const PACKAGE = "npm:github-slugger@2.0.0";

Deno.test("a bundle contains the whole folder of a package that is imported lazily", async () => {
  const without = await measure({ [ENTRY]: "export const slug = String;\n" });
  const size = await measure({
    [ENTRY]: `export const slug = async () => (await import("${PACKAGE}")).slug;\n`,
  });

  assert.ok(size.bytes > without.bytes + 15_000, `${size.bytes} bytes`);
  assert.ok(size.compressedBytes < size.bytes);
});

Deno.test("a bundle contains nothing of a package that is imported only for its types", async () => {
  const size = await measure({
    [ENTRY]: `import type Slugger from "${PACKAGE}";\n` +
      `import { slug } from "../../../shared/vendor/slugger.js";\n` +
      `export const slugger: Slugger | null = slug;\n`,
    "shared/vendor/slugger.js": '// @ts-self-types="./slugger.d.ts"\nexport const slug = null;\n',
    "shared/vendor/slugger.d.ts": `export { slug } from "${PACKAGE}";\n`,
  });

  assert.ok(size.bytes < 2_000, `${size.bytes} bytes`);
});

Deno.test("a bundle contains a module's code and its source, each once", async () => {
  const text = "0123456789".repeat(1_000);
  const shared = { "shared/platform/values/text.ts": `export const text: string = "${text}";\n` };
  const once = await measure({
    ...shared,
    [ENTRY]:
      'import { text } from "../../../shared/platform/values/text.ts";\nconsole.log(text);\n',
  });
  const twice = await measure({
    ...shared,
    [ENTRY]:
      'import { text } from "../../../shared/platform/values/text.ts";\nconsole.log(text);\n' +
      'export const again = () => import("../../../shared/platform/values/text.ts");\n',
  });

  assert.ok(once.bytes > 2 * text.length, `${once.bytes} bytes`);
  assert.ok(twice.bytes < once.bytes + text.length, `${twice.bytes} bytes`);
});

/** The bundle of a project with only these files. */
async function measure(files: Readonly<Record<string, string>>): Promise<BundleSize> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "supaswarm-bundle-test-" }));
  try {
    for (const [path, content] of Object.entries({ "deno.json": "{}", ...files })) {
      await Deno.mkdir(dirname(join(root, path)), { recursive: true });
      await Deno.writeTextFile(join(root, path), content);
    }
    return await measureBundle(root, ENTRY);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { waitFor } from "../../scripts/wait_for.ts";
import { createFunctionHost } from "../../stack/functions/function_host.ts";

const COLOUR = 'import colour from "colour"; Deno.serve(() => new Response(colour));';
const FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "dependencies": { "colour": "1.0.0" } }',
  "supabase/config.toml": `
[functions.named]
import_map = "./maps/blue.json"
entrypoint = "./functions/named/main.ts"
[functions.unused]
enabled = false
`,
  "supabase/maps/blue.json":
    '{ "imports": { "colour": "data:text/javascript,export default \'blue\'" } }',
  "supabase/functions/named/main.ts": COLOUR,
  "supabase/functions/unused/index.ts": COLOUR,
  "supabase/functions/own/index.ts": COLOUR,
  "supabase/functions/own/deno.json": '{ "imports": { "colour": "./red.ts" } }',
  "supabase/functions/own/red.ts": 'export default "red";',
  "supabase/functions/own/pink.ts": 'export default "pink";',
  "supabase/functions/mapped/index.ts": COLOUR,
  "supabase/functions/mapped/import_map.json":
    '{ "imports": { "colour": "data:text/javascript,export default \'green\'" } }',
  "supabase/functions/common/index.ts": COLOUR,
  "deno.json": '{ "imports": { "colour": "data:text/javascript,export default \'white\'" } }',
};

Deno.test("each function resolves its imports by its own configuration", async (t) => {
  const projectRoot = await Deno.makeTempDir({ prefix: "supaswarm-imports-test-" });
  const write = async (path: string, text: string) => {
    await Deno.mkdir(join(projectRoot, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(projectRoot, path), text);
  };
  for (const [path, text] of Object.entries(FILES)) await write(path, text);
  const host = await createFunctionHost({
    projectRoot,
    env: {},
    watch: true,
    cpu: null,
    onLog: () => {},
  });
  const answerOf = async (name: string) =>
    await (await host.fetch(name, new Request(`http://stack.test/functions/v1/${name}`))).text();
  try {
    await t.step("a function that is not enabled is not served", () => {
      assert.deepEqual(host.names, ["common", "mapped", "named", "own"]);
    });
    await t.step("its own file, that of config.toml, or the project's", async () => {
      assert.deepEqual(
        await Promise.all(["own", "mapped", "named", "common"].map(answerOf)),
        ["red", "green", "blue", "white"],
      );
    });
    await t.step("an edited configuration counts from the next request on", async () => {
      await write("supabase/functions/own/deno.json", '{ "imports": { "colour": "./pink.ts" } }');

      await waitFor(async () => (await answerOf("own")) === "pink" || undefined, {
        what: "the edited import",
      });
      assert.equal(await answerOf("common"), "white");
    });
  } finally {
    await host.stop();
    await Deno.remove(projectRoot, { recursive: true });
  }
});

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { sizeTable } from "./size_table.ts";

Deno.test("sizeTable() counts what people write, and the change since the last commit", async () => {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-size-" });
  const write = async (path: string, text: string) => {
    await Deno.mkdir(dirname(join(root, path)), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  };
  const git = async (...args: readonly string[]) => {
    const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    const { success } = await new Deno.Command("git", { args: [...who, ...args], cwd: root })
      .output();
    assert.ok(success, args.join(" "));
  };
  assert.deepEqual(await sizeTable(root), []);
  await git("init", "--quiet");
  await write("shared/engine/a.ts", "1\n2\n3\n");
  await write("shared/engine/a_test.ts", "1\n");
  await write("supabase/migrations/1.sql", "create table a ();\n");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "a");
  await write("shared/engine/a.ts", "1\n");
  await write("supabase/schemas/a.sql", "create table a ();\ncreate function b()\n");

  const cells = new Map(
    (await sizeTable(root)).map((row) => {
      const [name = "", ...counts] = row.trim().split(/ {2,}/);
      return [name, counts.join(" ")];
    }),
  );

  assert.equal(cells.get("files"), "lines since HEAD");
  assert.equal(cells.get("shared/engine"), "1 1 -2");
  assert.equal(cells.get("supabase"), "1 +1 2 +2");
  assert.equal(cells.get("tests"), "1 1");
  assert.equal(cells.get("product"), "2 +1 3");
  assert.equal(cells.get("SQL functions"), "1 +1");
  assert.equal(cells.get("SQL tables"), "1 +1");
});

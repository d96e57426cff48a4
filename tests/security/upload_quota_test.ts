import assert from "node:assert/strict";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { castOf } from "./cast.ts";

const BUCKET = "supaswarm-data";
const QUOTA_BYTES = 200_000;
const FILE = "x".repeat(QUOTA_BYTES / 2);

Deno.test("uploads count toward the quota when their bytes arrive", async (t) => {
  const platform = await sharedPlatform();
  await using cast = await castOf(platform);
  const { sql } = platform;
  await sql`
    insert into private.quotas (name, user_id, amount)
    values ('stored_bytes', ${cast.owner.id}, ${QUOTA_BYTES})`;
  const files = cast.owner.client.storage.from(BUCKET);
  const pathOf = (name: string) => `${cast.owner.id}/${name}.txt`;
  const storedNames = async () => {
    const rows = await sql<{ name: string; size: number }[]>`
      select name, (metadata ->> 'size')::int as size from storage.objects
      where bucket_id = ${BUCKET} and name like ${`${cast.owner.id}/%`} order by name`;
    return rows.map(({ name, size }) => `${name.split("/").at(-1)} ${size}`);
  };
  const clear = async () => {
    const { data } = await files.list(cast.owner.id);
    await files.remove((data ?? []).map(({ name }) => `${cast.owner.id}/${name}`));
  };

  await t.step("signed upload URLs that were made beforehand do not exceed it", async () => {
    const names = ["a", "b", "c", "d"];
    const signed = await Promise.all(
      names.map(async (name) => (await files.createSignedUploadUrl(pathOf(name))).data),
    );

    const errors = [];
    for (const upload of signed) {
      assert.ok(upload);
      const { error } = await files.uploadToSignedUrl(upload.path, upload.token, FILE);
      errors.push(error === null);
    }

    assert.deepEqual(errors, [true, true, false, false]);
    assert.deepEqual(await storedNames(), ["a.txt 100000", "b.txt 100000"]);
    assert.notEqual((await files.download(pathOf("c"))).error, null, "its bytes are not kept");
    await clear();
  });

  await t.step("parallel uploads do not exceed it", async () => {
    const uploads = await Promise.all(
      Array.from({ length: 6 }, (_, number) => files.upload(pathOf(`p${number}`), FILE)),
    );

    assert.equal(uploads.filter(({ error }) => error === null).length, 2);
    assert.equal((await storedNames()).length, 2);
    await clear();
  });

  await t.step("a file can be replaced, and the room of a deleted one is free again", async () => {
    assert.equal((await files.upload(pathOf("r"), FILE)).error, null);
    assert.equal((await files.update(pathOf("r"), FILE + FILE)).error, null);
    assert.notEqual((await files.upload(pathOf("s"), FILE)).error, null);

    await files.remove([pathOf("r")]);

    assert.equal((await files.upload(pathOf("s"), FILE)).error, null);
    await clear();
  });
});

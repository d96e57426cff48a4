import assert from "node:assert/strict";
import type { SupabaseClient } from "../deps.ts";
import { addAgent } from "../e2e/operator.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { castOf } from "./cast.ts";

const BUCKET = "supaswarm-data";
const TEXT = "What the agents wrote";

Deno.test("a job's files are read by its owner and written by the service", async (t) => {
  const platform = await sharedPlatform();
  await using cast = await castOf(platform);
  const { sql, stack } = platform;
  await addAgent(sql, { slug: "quiet-files" });
  const taskIds = await Promise.all([cast.owner.id, cast.stranger.id].map(async (id) => {
    const [task] = await sql<{ id: string }[]>`
      select task_id as id from private.create_task('quiet-files', '{}', ${id},
        p_run_after => now() + interval '300 days')`;
    return String(task?.id);
  }));
  const [ownFolder = "", strangersFolder = ""] = taskIds.map((id) => `${id}/${id}`);
  const path = `${ownFolder}/report.md`;
  const stored = await filesOf(cast.service).upload(path, TEXT);
  assert.equal(stored.error, null);
  const exportPath = `${crypto.randomUUID()}.csv`;
  const exported = await cast.service.storage.from("supaswarm-exports").upload(exportPath, TEXT);
  assert.equal(exported.error, null);

  await t.step("the owner downloads, lists and signs them", async () => {
    const files = filesOf(cast.owner.client);
    assert.equal(await (await files.download(path)).data?.text(), TEXT);
    assert.deepEqual((await files.list(ownFolder)).data?.map(({ name }) => name), ["report.md"]);
    const { data } = await files.createSignedUrl(path, 60);
    assert.equal(await (await fetch(data?.signedUrl ?? "")).text(), TEXT);
  });

  await t.step("nobody else can read them", async () => {
    const spellings = [path, path.toUpperCase(), `${strangersFolder}/../../${path}`, `/${path}`];
    for (const client of [cast.stranger.client, cast.anon]) {
      const files = filesOf(client);
      for (const spelling of spellings) {
        assert.notEqual((await files.download(spelling)).error, null, `download ${spelling}`);
        assert.notEqual((await files.createSignedUrl(spelling, 60)).error, null, "sign");
        assert.notEqual((await files.info(spelling)).error, null, "info");
      }
      assert.deepEqual((await files.list(ownFolder)).data ?? [], []);
      assert.deepEqual((await files.list()).data ?? [], []);
      const [signed] = (await files.createSignedUrls([path], 60)).data ?? [];
      assert.ok(!signed?.signedUrl, "sign many");
      const published = await fetch(files.getPublicUrl(path).data.publicUrl);
      assert.notEqual(await published.text(), TEXT);
    }
  });

  await t.step("only the service can access exports", async () => {
    for (const client of [cast.owner.client, cast.stranger.client, cast.anon]) {
      const exports = client.storage.from("supaswarm-exports");
      assert.notEqual((await exports.download(exportPath)).error, null);
      assert.deepEqual((await exports.list()).data ?? [], []);
    }
  });

  await t.step("no client can write, not even into its own folder", async () => {
    for (const client of [cast.owner.client, cast.stranger.client, cast.anon]) {
      const files = filesOf(client);
      for (const folder of [ownFolder, strangersFolder]) {
        assert.notEqual((await files.upload(`${folder}/new.md`, "x")).error, null, "upload");
        assert.notEqual((await files.copy(path, `${folder}/copy.md`)).error, null, "copy");
        assert.notEqual((await files.move(path, `${folder}/moved.md`)).error, null, "move");
        const order = await files.createSignedUploadUrl(`${folder}/signed.md`);
        assert.notEqual(order.error, null, "the signature of an upload is refused");
      }
      assert.notEqual((await files.update(path, "x")).error, null, "update");
      assert.notEqual((await files.upload(path, "x", { upsert: true })).error, null, "upsert");
      assert.deepEqual((await files.remove([path])).data ?? [], [], "remove");
      assert.notEqual((await client.storage.createBucket(crypto.randomUUID())).error, null);
      assert.notEqual((await client.storage.updateBucket(BUCKET, { public: true })).error, null);
      assert.notEqual((await client.storage.emptyBucket(BUCKET)).error, null);
      assert.notEqual((await client.storage.deleteBucket(BUCKET)).error, null);
    }

    const objects = await sql<{ name: string }[]>`
      select name from storage.objects
      where bucket_id = ${BUCKET} and split_part(name, '/', 1) in ${sql(taskIds)}`;
    assert.deepEqual(objects.map(({ name }) => name), [path]);
    assert.equal(await (await filesOf(cast.service).download(path)).data?.text(), TEXT);
  });

  await t.step("a token for one file does not open another file", async () => {
    const other = `${strangersFolder}/other.md`;
    await filesOf(cast.service).upload(other, "another's");
    const { data } = await filesOf(cast.owner.client).createSignedUrl(path, 60);
    const token = new URL(data?.signedUrl ?? "").searchParams.get("token");
    const url = `${stack.apiUrl}/storage/v1/object/sign/${BUCKET}/${other}?token=${token}`;

    const answer = await fetch(url);

    assert.equal(answer.ok, false);
    await answer.body?.cancel();
  });
});

function filesOf(client: SupabaseClient) {
  return client.storage.from(BUCKET);
}

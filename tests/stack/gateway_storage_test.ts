import assert from "node:assert/strict";
import { startGatewayFixture } from "./gateway_fixture.ts";

const POLICIES_SQL = `
  insert into storage.buckets (id, name, public) values ('files', 'files', false);
  create policy "own folder" on storage.objects to authenticated
    using (bucket_id = 'files' and (storage.foldername(name))[1] = (select auth.uid())::text)
    with check (bucket_id = 'files' and (storage.foldername(name))[1] = (select auth.uid())::text);
`;

Deno.test("objects are stored, listed and removed as their policies allow", async (t) => {
  await using fixture = await startGatewayFixture(POLICIES_SQL);
  const ann = await fixture.signedUp();
  const bob = await fixture.signedUp();
  const own = ann.client.storage.from("files");
  const strange = bob.client.storage.from("files");
  const anonymous = fixture.client().storage.from("files");
  const path = `${ann.id}/notes/first draft ü.txt`;

  await t.step("a Blob, a File, bytes and text are returned unchanged", async () => {
    const bodies = [
      new Blob(["hello"], { type: "text/plain" }),
      new File(["hello"], "x.txt", { type: "text/plain" }),
      new TextEncoder().encode("hello"),
      "hello",
    ];
    for (const body of bodies) {
      const upload = await own.upload(path, body, { contentType: "text/plain", upsert: true });
      const { data } = await own.download(path);

      assert.equal(upload.data?.fullPath, `files/${path}`);
      assert.equal(await data?.text(), "hello");
      assert.equal(data?.type, "text/plain");
    }
  });

  await t.step("a second upload without upsert is refused", async () => {
    assert.equal(
      (await own.upload(path, new Blob(["x"]))).error?.message,
      "The resource already exists",
    );
  });

  await t.step("metadata is stored and returned", async () => {
    const described = `${ann.id}/described.json`;
    await own.upload(described, new Blob(["{}"], { type: "application/json" }), {
      metadata: { source: "test" },
    });
    const { data } = await own.info(described);

    assert.deepEqual(data?.metadata, { source: "test" });
    assert.equal(data?.size, 2);
    assert.equal(data?.contentType, "application/json");
  });

  await t.step("list() shows one folder: folders first, names relative", async () => {
    const root = await own.list(ann.id);
    const folder = await own.list(`${ann.id}/notes`);

    assert.deepEqual(root.data?.map(({ name, id }) => [name, id === null]), [
      ["notes", true],
      ["described.json", false],
    ]);
    assert.deepEqual(folder.data?.map(({ name }) => name), ["first draft ü.txt"]);
  });

  await t.step("a stranger and anon can see, change and remove nothing", async () => {
    for (const other of [strange, anonymous]) {
      assert.ok((await other.download(path)).error);
      assert.ok((await other.upload(`${ann.id}/x`, new Blob(["x"]))).error);
      assert.ok((await other.createSignedUrl(path, 60)).error);
      assert.deepEqual((await other.list(ann.id)).data, []);
      assert.deepEqual((await other.remove([path])).data, []);
    }
    assert.equal((await own.exists(path)).data, true);
  });

  await t.step("a signed URL gives anyone access to one object", async () => {
    const signedUrl = (await own.createSignedUrl(path, 60, { download: "a.txt" })).data?.signedUrl;
    assert.ok(signedUrl);
    const answer = await fetch(signedUrl);
    const tampered = await fetch(signedUrl.replace("token=", "token=x"));
    await tampered.body?.cancel();

    assert.equal(await answer.text(), "hello");
    assert.match(answer.headers.get("content-disposition") ?? "", /a\.txt/);
    assert.equal(tampered.status, 400);
    const many = (await own.createSignedUrls([path, "none"], 60)).data ?? [];
    assert.deepEqual(many.map(({ error }) => error === null), [true, false]);
  });

  await t.step("a signed upload URL lets anyone store one object", async () => {
    const target = `${ann.id}/by-proxy.txt`;
    const { data } = await own.createSignedUploadUrl(target);
    const blob = new Blob(["by proxy"], { type: "text/plain" });
    const upload = await anonymous.uploadToSignedUrl(target, data?.token ?? "", blob);

    assert.equal(upload.data?.fullPath, `files/${target}`);
    assert.equal(await (await own.download(target)).data?.text(), "by proxy");
  });

  await t.step("copy, move and remove change rows and bytes", async () => {
    const [copied, moved] = [`${ann.id}/copy.txt`, `${ann.id}/moved.txt`];
    assert.equal((await own.copy(path, copied)).data?.path, `files/${copied}`);
    assert.equal((await own.move(copied, moved)).error, null);
    assert.equal(await (await own.download(moved)).data?.text(), "hello");
    assert.equal((await own.remove([moved])).data?.length, 1);
    assert.equal((await own.exists(moved)).data, false);
  });

  await t.step("the secret key manages buckets; public ones need no key to read", async () => {
    const storage = fixture.service().storage;

    assert.ok((await ann.client.storage.createBucket("mine")).error);
    assert.equal((await storage.createBucket("open", { public: true })).error, null);
    assert.equal((await storage.getBucket("open")).data?.public, true);
    await storage.from("open").upload("a/b.txt", new Blob(["for all"], { type: "text/plain" }));
    const answer = await fetch(storage.from("open").getPublicUrl("a/b.txt").data.publicUrl);
    assert.equal(await answer.text(), "for all");
    assert.ok((await storage.deleteBucket("open")).error);
    await storage.emptyBucket("open");
    assert.equal((await storage.deleteBucket("open")).error, null);
    assert.deepEqual((await storage.listBuckets()).data?.map(({ id }) => id), ["files"]);
  });

  await t.step("keys that look like paths do not escape the bucket", async () => {
    const keys = ["..%2f..%2fx", "a/..%2f..%2f..%2fx", "%2e%2e/x", "..%5cx", "a%00b"];
    for (const key of keys) {
      const answer = await fetch(`${fixture.url}/storage/v1/object/files/${key}`, {
        method: "POST",
        headers: { apikey: fixture.keys.secretKey, "content-type": "text/plain" },
        body: "x",
      });
      await answer.body?.cancel();

      assert.ok([400, 404].includes(answer.status), `${key}: ${answer.status}`);
    }
  });
});

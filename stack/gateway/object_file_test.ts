import assert from "node:assert/strict";
import { objectPath, readObjectFile, statObjectFile, writeObjectFile } from "./object_file.ts";

const HEAD = { mimetype: "text/plain", cacheControl: "max-age=60" };

Deno.test("objectPath() stays in the root for any bucket and key", async () => {
  const hostile = [["..", "../../etc/passwd"], ["a", "/etc/passwd"], ["a/b", "c"], ["a", "b/c\\0"]];
  const paths = await Promise.all(
    hostile.map(([bucket = "", key = ""]) => objectPath("/root", bucket, key)),
  );

  for (const path of paths) assert.match(path, /^\/root\/[0-9a-f]{2}\/[0-9a-f]{64}$/);
  assert.notEqual(objectPath("/root", "a/b", "c"), objectPath("/root", "a", "b/c"));
});

Deno.test("an object's file returns bytes, size and head", async () => {
  const root = await Deno.makeTempDir();
  try {
    const path = objectPath(root, "bucket", "key");
    await writeObjectFile(path, HEAD, new Blob(["hello"]).stream());
    const { head, sizeBytes, body } = await readObjectFile(path);

    assert.deepEqual(head, HEAD);
    assert.equal(sizeBytes, 5);
    assert.equal(await new Response(body).text(), "hello");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("the body of a large request follows the head", async () => {
  const root = await Deno.makeTempDir();
  const path = objectPath(root, "bucket", "key");
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async ({ body }) => {
      await writeObjectFile(path, HEAD, body ?? new Blob().stream());
      return new Response();
    },
  );
  try {
    const text = "long ".repeat(100_000);
    await (await fetch(`http://127.0.0.1:${server.addr.port}`, { method: "POST", body: text }))
      .text();
    const { head, body } = await readObjectFile(path);

    assert.deepEqual(head, HEAD);
    assert.equal(await new Response(body).text(), text);
  } finally {
    await server.shutdown();
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("an interrupted upload keeps the old object", async () => {
  const root = await Deno.makeTempDir();
  try {
    const path = objectPath(root, "bucket", "key");
    await writeObjectFile(path, HEAD, new Blob(["old"]).stream());
    const cut = new ReadableStream({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(3));
        controller.error(new Error("cut"));
      },
    });

    await assert.rejects(writeObjectFile(path, HEAD, cut), /cut/);
    assert.equal((await statObjectFile(path)).sizeBytes, 3);
    const entries = await Array.fromAsync(Deno.readDir(path.slice(0, path.lastIndexOf("/"))));
    assert.equal(entries.length, 1);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

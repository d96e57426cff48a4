import assert from "node:assert/strict";
import { createArtifactStorage } from "./artifact_storage.ts";

Deno.test("createArtifactStorage() stops reading an object that is larger than allowed", async () => {
  let sentBytes = 0;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = new Uint8Array(65_536);
        sentBytes += chunk.length;
        controller.enqueue(chunk);
      },
    });
    return new Response(body);
  });
  const storage = createArtifactStorage({
    url: `http://127.0.0.1:${server.addr.port}`,
    secretKey: "sb_secret_test",
  });

  await assert.rejects(storage.get("u/a.txt", 200_000, new AbortController().signal), {
    code: "FILES_TOO_LARGE",
  });

  assert.ok(sentBytes < 50_000_000, String(sentBytes));
});

Deno.test("createArtifactStorage() says that Storage is unavailable when an answer breaks off", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    let isBegun = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isBegun) return controller.error(new Error("The connection is lost"));
        isBegun = true;
        controller.enqueue(new TextEncoder().encode('{"signedURL":'));
      },
    });
    return new Response(body);
  });
  const storage = createArtifactStorage({
    url: `http://127.0.0.1:${server.addr.port}`,
    secretKey: "sb_secret_test",
  });

  await assert.rejects(storage.link("u/a.txt", 60), { code: "STORAGE_UNAVAILABLE" });
});

Deno.test("createArtifactStorage() reports an object that it may not delete", async () => {
  const answers = [200, 400, 404, 403];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(null, { status: answers.shift() ?? 500 }),
  );
  const storage = createArtifactStorage({
    url: `http://127.0.0.1:${server.addr.port}`,
    secretKey: "sb_secret_test",
  });

  for (let attempt = 0; attempt < 3; attempt++) await storage.remove("u/a.txt");
  await assert.rejects(storage.remove("u/a.txt"), /responded with 403/);
});

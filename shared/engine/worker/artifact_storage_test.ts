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

import assert from "node:assert/strict";
import { openEmbeddingCache } from "./embedding_cache.ts";

Deno.test("embeddings are cached across runs, so only new texts reach the model", async () => {
  const asked: string[][] = [];
  await using upstream = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { input } = await request.json() as { input: string[] };
      asked.push(input);
      const data = input.map((text, index) => ({ index, embedding: [text.length] }));
      return Response.json({ data });
    },
  );
  const folder = await Deno.makeTempDir();
  try {
    for (const input of [["a", "bb"], ["ccc", "a"]]) {
      await using cache = await openEmbeddingCache(
        `http://127.0.0.1:${upstream.addr.port}`,
        folder,
      );
      const response = await fetch(`${cache.url}/embeddings`, {
        method: "POST",
        body: JSON.stringify({ model: "m", input }),
      });
      const { data } = await response.json() as { data: { embedding: number[] }[] };
      assert.deepEqual(data.map(({ embedding }) => embedding[0]), input.map((t) => t.length));
    }
    assert.deepEqual(asked, [["a", "bb"], ["ccc"]]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

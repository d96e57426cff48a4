import { join } from "node:path";
import { z } from "../../../shared/vendor/zod.js";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { sha256Hex } from "../../../shared/platform/values/sha256_hex.ts";

const requestSchema = z.looseObject({ model: z.string(), input: z.array(z.string()) });
const answerSchema = z.looseObject({
  data: z.array(z.object({ index: z.number(), embedding: z.array(z.number()) })),
});
const FOLDER = join(PROJECT_ROOT, ".supaswarm", "bench", "quoth");

/** An embedding server on loopback that caches the answers of another one between runs. */
export interface EmbeddingCache extends AsyncDisposable {
  /** Base URL that replaces that of the other server. */
  readonly url: string;
  readonly counts: { hits: number; misses: number };
}

/** Opens a cache for a server with OpenAI's wire format. */
export async function openEmbeddingCache(
  upstreamUrl: string,
  folder = FOLDER,
): Promise<EmbeddingCache> {
  await Deno.mkdir(folder, { recursive: true });
  const counts = { hits: 0, misses: 0 };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = requestSchema.parse(await request.json());
      const places = body.input.map((text) => placeOf(folder, body.model, text));
      const vectors = await Promise.all(places.map(readVector));
      const missing = vectors.flatMap((vector, index) => vector === null ? [index] : []);
      counts.hits += vectors.length - missing.length;
      counts.misses += missing.length;
      if (missing.length > 0) {
        const response = await fetch(`${upstreamUrl}/embeddings`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...body, input: missing.map((index) => body.input[index]) }),
          signal: request.signal,
        });
        if (!response.ok) return response;
        for (const { index, embedding } of answerSchema.parse(await response.json()).data) {
          const at = missing[index];
          if (at === undefined) continue;
          vectors[at] = embedding;
          await Deno.writeTextFile(places[at] ?? "", JSON.stringify(embedding));
        }
      }
      const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
      return Response.json({ object: "list", model: body.model, data });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1`,
    counts,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function placeOf(folder: string, model: string, text: string): string {
  const hash = sha256Hex(`${model}\0${text}`);
  return join(folder, `${hash}.json`);
}

async function readVector(place: string): Promise<number[] | null> {
  try {
    return z.array(z.number()).parse(JSON.parse(await Deno.readTextFile(place)));
  } catch (error) {
    // Ignore a partial file of a killed run.
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
}

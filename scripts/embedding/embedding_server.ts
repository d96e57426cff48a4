import { z } from "../../shared/vendor/zod.js";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { capBody } from "../../shared/platform/net/cap_body.ts";
import { serveLocally } from "../../stack/local_callers.ts";
import { MinilmPool } from "./minilm_pool.ts";

/** The only served model. `embedders.model` has this name. */
const MODEL = "minilm-l6-v2";
const MAX_TEXTS = 64;
const MAX_BODY_BYTES = 4_194_304;

const requestSchema = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()).min(1).max(MAX_TEXTS)]),
});

/** An embedding server that needs neither a key nor a network. */
export interface EmbeddingServer {
  /** Origin, without a path. An embedder's base URL is `${url}/v1`. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves MiniLM on 127.0.0.1 as `POST /v1/embeddings` in OpenAI's wire format. Loads the model with
 * the first request (from Deno's cache after the first download), and unloads it after idle time.
 */
export function startEmbeddingServer(pool: MinilmPool = new MinilmPool()): EmbeddingServer {
  const server = serveLocally({}, (request) => answer(request, pool));
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    stop: async () => {
      await pool.stop();
      await server.shutdown();
    },
  };
}

async function answer(request: Request, pool: MinilmPool): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname !== "/v1/embeddings" || request.method !== "POST") {
    return refuse(404, "not_found", "Only POST /v1/embeddings is supported");
  }
  if (!request.headers.get("content-type")?.startsWith("application/json")) {
    return refuse(415, "invalid_request_error", "Send application/json");
  }
  const parsed = requestSchema.safeParse(await readJson(request));
  if (!parsed.success) {
    return refuse(400, "invalid_request_error", `Send {model, input: 1 to ${MAX_TEXTS} texts}`);
  }
  const { model, input } = parsed.data;
  if (model !== MODEL) {
    return refuse(404, "model_not_found", `Unknown model. Use ${MODEL}`);
  }
  try {
    const vectors = await pool.embed(typeof input === "string" ? [input] : input, request.signal);
    return Response.json({ object: "list", model, data: vectors.map(toItem) });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return refuse(503, "model_unavailable", `Cannot run MiniLM: ${words}`);
  }
}

function toItem(embedding: readonly number[], index: number) {
  return { object: "embedding", index, embedding };
}

function refuse(status: number, code: string, message: string): Response {
  return Response.json({ error: { message, code, type: code } }, { status });
}

/** Reads a JSON body. Returns undefined when it is too large or not JSON. */
async function readJson(request: Request): Promise<unknown> {
  try {
    return await capBody(new Response(request.body), MAX_BODY_BYTES).json();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof SwarmError) return undefined;
    throw error;
  }
}

/** A model with the Chat Completions wire format whose answers stream and never end. */
export interface EndlessModel extends AsyncDisposable {
  /** For `llm_providers.base_url`. */
  readonly baseUrl: string;
  /** The number of answers that are streaming. */
  readonly openCount: number;
}

const CHUNK_EACH_MS = 250;
const CHUNK = {
  id: "endless",
  object: "chat.completion.chunk",
  created: 0,
  model: "endless",
  choices: [{ index: 0, delta: { content: "one more line of an answer\n" }, finish_reason: null }],
};

/** Serves an endless model on 127.0.0.1. */
export function startEndlessModel(): EndlessModel {
  const open = new Set<ReturnType<typeof setInterval>>();
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(CHUNK)}\n\n`);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    let timer: ReturnType<typeof setInterval>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        timer = setInterval(() => controller.enqueue(bytes), CHUNK_EACH_MS);
        open.add(timer);
      },
      cancel() {
        clearInterval(timer);
        open.delete(timer);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    get openCount() {
      return open.size;
    },
    async [Symbol.asyncDispose]() {
      for (const timer of open) clearInterval(timer);
      await server.shutdown();
    },
  };
}

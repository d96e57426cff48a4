/** The answers of a {@linkcode PacedModel}. */
export interface PacedAnswer {
  /** Pieces of text before each turn's tool call. */
  readonly pieces: number;
  /** Time between two pieces. An answer without streaming is sent after the total time. */
  readonly gapMs: number;
  /**
   * Number of model calls per task. Each saves a value, except the last, which completes the task.
   */
  readonly turns: number;
}

/** A model behind the Chat Completions wire format that answers at a given pace. */
export interface PacedModel extends AsyncDisposable {
  /** For `llm_providers.base_url`. */
  readonly baseUrl: string;
  /** Changes the answers to the next requests. */
  play(answer: PacedAnswer): void;
  /** Number of requests per turn, by the task's input and the number of the turn. */
  readonly calls: ReadonlyMap<string, number>;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const ENVELOPE = { id: "paced", created: 0, model: "paced" };
const encoder = new TextEncoder();

interface ChatRequest {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** Serves a paced model on 127.0.0.1. A word such as `task-7` in its input identifies a task. */
export function startPacedModel(first: PacedAnswer): PacedModel {
  const calls = new Map<string, number>();
  let playing = first;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body: ChatRequest = await request.json();
      const turn = body.messages.filter(({ role }) => role === "assistant").length;
      const task = /task-\d+/.exec(JSON.stringify(body.messages))?.[0] ?? "";
      const key = `${task} ${turn}`;
      calls.set(key, (calls.get(key) ?? 0) + 1);
      const answer = playing;
      const toolCall = toolCallOf(turn, answer);
      return body.stream === true ? streamed(answer, toolCall) : await whole(answer, toolCall);
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    calls,
    play: (answer) => void (playing = answer),
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}

function toolCallOf(turn: number, { turns }: PacedAnswer) {
  const isLast = turn >= turns - 1;
  return {
    id: `call_${turn}`,
    type: "function",
    function: {
      name: isLast ? "complete_task" : "save_intermediate_data",
      arguments: JSON.stringify(isLast ? { output: "done" } : { key: `k${turn}`, value: turn }),
    },
  };
}

async function whole({ pieces, gapMs }: PacedAnswer, toolCall: object): Promise<Response> {
  await pause(pieces * gapMs);
  const message = { role: "assistant", content: "", tool_calls: [toolCall] };
  return Response.json({
    ...ENVELOPE,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    usage: USAGE,
  });
}

function streamed({ pieces, gapMs }: PacedAnswer, toolCall: object): Response {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (delta: object, rest: object = {}) =>
        controller.enqueue(encoder.encode(`data: ${chunk(delta, rest)}\n\n`));
      try {
        for (let n = 0; n < pieces; n++) {
          send({ content: "word and " });
          if (gapMs > 0) await pause(gapMs);
        }
        send({ tool_calls: [{ index: 0, ...toolCall }] });
        send({}, { finish_reason: "tool_calls" });
        controller.enqueue(encoder.encode(`data: ${lastChunk()}\n\ndata: [DONE]\n\n`));
        controller.close();
      } catch {
        // The caller disconnected because its isolate was ended.
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function chunk(delta: object, rest: object): string {
  const choices = [{ index: 0, delta, finish_reason: null, ...rest }];
  return JSON.stringify({ ...ENVELOPE, object: "chat.completion.chunk", choices });
}

function lastChunk(): string {
  return JSON.stringify({
    ...ENVELOPE,
    object: "chat.completion.chunk",
    choices: [],
    usage: USAGE,
  });
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

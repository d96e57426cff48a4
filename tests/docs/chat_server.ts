import { z } from "../../shared/vendor/zod.js";

/** A model server in OpenAI's wire format, as the page about local models expects one. */
export interface ChatServer extends AsyncDisposable {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
}

const requestSchema = z.object({
  model: z.literal("scripted-chat"),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })).min(1),
});

/** Serves a model that sorts tickets, greets and writes one statement; it refuses everything else. */
export function serveChat(): ChatServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/v1/models") {
    return Response.json({ object: "list", data: [{ id: "scripted-chat", object: "model" }] });
  }
  const { messages, model } = requestSchema.parse(await request.json());
  const prompt = JSON.stringify(messages);
  const content = /You sort support tickets/.test(prompt)
    ? JSON.stringify({ team: /charged/.test(prompt) ? "billing" : "product" })
    : /Greet whom the input names/.test(prompt)
    ? JSON.stringify({ greeting: "Hello, Ada" })
    : /SQL generator/.test(prompt)
    ? "select region, sum(amount) as revenue from sales group by region order by 2 desc"
    : null;
  if (content === null) {
    return Response.json({ error: { message: "no script for this prompt" } }, { status: 400 });
  }
  return Response.json({
    id: "chat-1",
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
  });
}

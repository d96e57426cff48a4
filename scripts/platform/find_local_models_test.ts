import assert from "node:assert/strict";
import { findLocalModels } from "./find_local_models.ts";

function serveModels(answer: () => Response) {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) =>
      new URL(request.url).pathname === "/v1/models"
        ? answer()
        : new Response("no", { status: 404 }),
  );
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

const list = (...ids: string[]) => () => Response.json({ data: ids.map((id) => ({ id })) });

Deno.test("findLocalModels() finds a server on a usual port, and its first model that chats", async () => {
  await using silent = serveModels(() => new Response("<html>", { status: 200 }));
  await using models = serveModels(list("nomic-embed-text", "llama3.2:latest", "qwen3"));

  const found = await findLocalModels({}, [["Other", silent.port], ["Ollama", models.port]]);

  assert.deepEqual(found, {
    source: "Ollama",
    baseUrl: `http://127.0.0.1:${models.port}/v1`,
    model: "llama3.2:latest",
  });
});

Deno.test("findLocalModels() prefers the server that a variable names, also when it is not there yet", async () => {
  await using models = serveModels(list("llama3.2"));
  const ports = [["Ollama", models.port]] as const;

  const named = await findLocalModels(
    { OPENAI_BASE_URL: `http://127.0.0.1:${models.port}/v1/` },
    [],
  );
  const absent = await findLocalModels({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }, ports);

  assert.deepEqual([named?.source, named?.model], ["OPENAI_BASE_URL", "llama3.2"]);
  assert.deepEqual(absent, {
    source: "OPENAI_BASE_URL",
    baseUrl: "http://127.0.0.1:9/v1",
    model: null,
  });
});

Deno.test("findLocalModels() finds nothing where no server lists models", async () => {
  await using broken = serveModels(() => Response.json({ models: [] }));

  assert.equal(await findLocalModels({}, [["Ollama", broken.port], ["vLLM", 9]]), null);
});

Deno.test("findLocalModels() refuses an OPENAI_BASE_URL that is not an address", async () => {
  await assert.rejects(findLocalModels({ OPENAI_BASE_URL: "localhost:8080" }), /OPENAI_BASE_URL/);
});

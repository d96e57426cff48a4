import assert from "node:assert/strict";
import { generateWithDowngrades } from "../../../shared/models/llm/request_downgrades.ts";
import { RefusedOptions } from "../../../shared/models/llm/refused_options.ts";
import { createModelAdapter } from "../../../shared/models/llm/create_model_adapter.ts";
import type {
  ModelApi,
  ModelMessage,
  ModelRequest,
} from "../../../shared/models/llm/model_port.ts";
import { request, TEST_KEY } from "./tested_model.ts";
import { formatOf, WIRE_FORMATS } from "./wire_format.ts";

const IMAGE = { mediaType: "image/png", base64: btoa("an image") };
const PDF = { mediaType: "application/pdf", base64: btoa("a document") };

/** The request that a provider receives for a message with files; null if it receives none. */
async function sent(
  api: ModelApi,
  contents: readonly { readonly mediaType: string; readonly base64: string }[],
  changes: Partial<ModelRequest> = {},
) {
  const files = contents.map((content, n) => ({ path: `u/file${n}`, content }));
  const messages = [{ role: "user" as const, text: "Look", files }];
  const { bodies, error } = await ask(api, { messages, ...changes });
  return { body: bodies[0] ?? null, error };
}

/** The requests that a provider receives; it refuses the first `refusals` with this message. */
async function ask(
  api: ModelApi,
  changes: Partial<ModelRequest>,
  refusals: readonly string[] = [],
) {
  // deno-lint-ignore no-explicit-any -- each format has its own
  const bodies: any[] = [];
  const format = formatOf(api);
  const adapter = await createModelAdapter(
    { api, providerName: api, baseUrl: null, apiKey: TEST_KEY },
    {
      fetch: (_, init) => {
        const message = refusals[bodies.push(JSON.parse(String(init?.body))) - 1];
        return Promise.resolve(
          message === undefined
            ? Response.json(format.whole({ text: "ok" }))
            : Response.json({ error: { message } }, { status: 400 }),
        );
      },
    },
  );
  const options = { signal: new AbortController().signal };
  const refused = new RefusedOptions();
  const called = { adapter, api, options, target: "acme", refused };
  const asked = generateWithDowngrades(called, request(changes));
  const error = await asked.then(() => null, (reason) => reason);
  return { bodies, error };
}

Deno.test("anthropic: images and PDFs are blocks before the text", async () => {
  const { body } = await sent("anthropic", [IMAGE, PDF]);

  const [image, pdf, text] = body.messages[0].content;
  assert.deepEqual(image, {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: IMAGE.base64 },
  });
  assert.deepEqual(pdf, {
    type: "document",
    title: "file1",
    source: { type: "base64", media_type: "application/pdf", data: PDF.base64 },
  });
  assert.equal(text.text, "Look");
});

Deno.test("google: images and PDFs are inline data before the text", async () => {
  const { body } = await sent("google", [IMAGE, PDF]);

  assert.deepEqual(body.contents[0].parts, [
    { inlineData: { mimeType: "image/png", data: IMAGE.base64 } },
    { inlineData: { mimeType: "application/pdf", data: PDF.base64 } },
    { text: "Look" },
  ]);
});

Deno.test("openai: images and PDFs are parts of the chat message", async () => {
  const { body } = await sent("openai", [IMAGE, PDF]);

  assert.deepEqual(body.messages.at(-1).content, [
    { type: "image_url", image_url: { url: `data:image/png;base64,${IMAGE.base64}` } },
    {
      type: "file",
      file: { filename: "file1", file_data: `data:application/pdf;base64,${PDF.base64}` },
    },
    { type: "text", text: "Look" },
  ]);
});

Deno.test("openai: in the Responses format they are inputs", async () => {
  const { body } = await sent("openai", [IMAGE, PDF], { providerTools: ["web_search"] });

  assert.deepEqual(body.input[0].content, [
    {
      type: "input_image",
      image_url: `data:image/png;base64,${IMAGE.base64}`,
      detail: "auto",
    },
    {
      type: "input_file",
      filename: "file1",
      file_data: `data:application/pdf;base64,${PDF.base64}`,
    },
    { type: "input_text", text: "Look" },
  ]);
});

for (
  const [api, mediaType] of [
    ["google", "image/gif"],
    ["openai", "video/mp4"],
    ["anthropic", "image/tiff"],
  ] as const
) {
  Deno.test(`${api}: a file of type ${mediaType} is refused before any request`, async () => {
    const { body, error } = await sent(api, [{ mediaType, base64: "" }]);

    assert.equal(body, null);
    assert.equal(error?.code, "FILE_TYPE_UNSUPPORTED");
    assert.equal(error?.isRetryable, false);
  });
}

/** A turn of two calls: the first returned an image and a PDF, the second only text. */
function turnWithFiles(contents: readonly (typeof IMAGE)[] = [IMAGE, PDF]): ModelMessage[] {
  const files = contents.map((content, n) => ({ path: `j/t/_step-2-${n + 1}.x`, content }));
  const calls = ["draw", "look"].map((name) => ({ call_id: `id_${name}`, name, arguments: {} }));
  return [
    { role: "user", text: "Draw" },
    { role: "assistant", text: "", tool_calls: calls },
    { role: "tool", call_id: "id_draw", name: "draw", text: "Drawn", is_error: false, files },
    { role: "tool", call_id: "id_look", name: "look", text: "Seen", is_error: false },
  ];
}

Deno.test("anthropic: files of a tool's result are blocks inside the result", async () => {
  const { bodies: [body] } = await ask("anthropic", { messages: turnWithFiles() });

  const [draw, look] = body.messages.at(-1).content;
  assert.deepEqual(draw.content, [
    { type: "text", text: "Drawn" },
    {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: IMAGE.base64 },
    },
    {
      type: "document",
      title: "_step-2-2.x",
      source: { type: "base64", media_type: "application/pdf", data: PDF.base64 },
    },
  ]);
  assert.deepEqual(look.content, [{ type: "text", text: "Seen" }]);
});

Deno.test("google: files of a tool's result are next to its response", async () => {
  const { bodies: [body] } = await ask("google", { messages: turnWithFiles() });

  assert.deepEqual(body.contents.at(-1), {
    role: "user",
    parts: [
      { functionResponse: { name: "draw", response: { output: "Drawn" } } },
      { inlineData: { mimeType: "image/png", data: IMAGE.base64 } },
      { inlineData: { mimeType: "application/pdf", data: PDF.base64 } },
      { functionResponse: { name: "look", response: { output: "Seen" } } },
    ],
  });
});

Deno.test("openai: files of a turn's results follow all of them in a user message", async () => {
  const { bodies: [body] } = await ask("openai", { messages: turnWithFiles() });

  const [draw, look, shown] = body.messages.slice(-3);
  assert.deepEqual([draw.role, draw.content], ["tool", "Drawn"]);
  assert.deepEqual([look.role, look.content], ["tool", "Seen"]);
  assert.equal(shown.role, "user");
  assert.deepEqual(shown.content.map(({ type }: { type: string }) => type), [
    "text",
    "image_url",
    "text",
    "file",
  ]);
  assert.match(shown.content[0].text, /_step-2-1\.x/);
  assert.equal(shown.content[1].image_url.url, `data:image/png;base64,${IMAGE.base64}`);
});

Deno.test("openai: in the Responses format they are parts of the call's output", async () => {
  const { bodies: [body] } = await ask("openai", {
    messages: turnWithFiles(),
    providerTools: ["web_search"],
  });

  const [draw, look] = body.input.slice(-2);
  assert.deepEqual(draw.output, [
    { type: "input_text", text: "Drawn" },
    { type: "input_image", image_url: `data:image/png;base64,${IMAGE.base64}`, detail: "auto" },
    {
      type: "input_file",
      filename: "_step-2-2.x",
      file_data: `data:application/pdf;base64,${PDF.base64}`,
    },
  ]);
  assert.equal(look.output, "Seen");
});

for (const { api } of WIRE_FORMATS) {
  Deno.test(`${api}: a tool's file of a type that the model does not take is only named`, async () => {
    const tiff = { mediaType: "image/tiff", base64: btoa("an image") };

    const { bodies, error } = await ask(api, { messages: turnWithFiles([tiff]) });

    assert.equal(error, null);
    const sentText = JSON.stringify(bodies);
    assert.match(sentText, /_step-2-1\.x is not shown: this model does not accept image\/tiff/);
    assert.ok(!sentText.includes(tiff.base64));
  });

  Deno.test(`${api}: a model that refuses a tool's files is called again without them`, async () => {
    const refusals = ["image input is not supported by this model"];

    const { bodies, error } = await ask(api, { messages: turnWithFiles() }, refusals);

    assert.equal(error, null);
    assert.equal(bodies.length, 2);
    assert.ok(JSON.stringify(bodies[0]).includes(IMAGE.base64));
    assert.ok(!JSON.stringify(bodies[1]).includes(IMAGE.base64));
    assert.match(JSON.stringify(bodies[1]), /_step-2-1\.x is not shown: the model refused it/);
  });

  Deno.test(`${api}: a refusal of the user's own files is an error`, async () => {
    const files = [{ path: "u/a.png", content: IMAGE }];
    const messages: ModelMessage[] = [{ role: "user", text: "Look", files }];

    const { bodies, error } = await ask(api, { messages }, ["could not process image"]);

    assert.equal(bodies.length, 1);
    assert.equal(error?.code, "MODEL_REQUEST_INVALID");
  });
}

import assert from "node:assert/strict";
import { createModelAdapter } from "../../shared/llm/create_model_adapter.ts";
import type { ModelApi, ModelRequest } from "../../shared/llm/model_port.ts";
import { request, TEST_KEY } from "./tested_model.ts";
import { WIRE_FORMATS } from "./wire_format.ts";

const IMAGE = { mediaType: "image/png", base64: btoa("an image") };
const PDF = { mediaType: "application/pdf", base64: btoa("a document") };

/** What a provider is sent for a message with files; null when it is sent nothing. */
async function sent(
  api: ModelApi,
  contents: readonly { readonly mediaType: string; readonly base64: string }[],
  changes: Partial<ModelRequest> = {},
) {
  const bodies: string[] = [];
  const format = WIRE_FORMATS.find((candidate) => candidate.api === api);
  const adapter = await createModelAdapter(
    { api, providerName: api, baseUrl: null, apiKey: TEST_KEY },
    {
      fetch: (_, init) => {
        bodies.push(String(init?.body));
        return Promise.resolve(Response.json(format?.whole({ text: "ok" })));
      },
    },
  );
  const files = contents.map((content, n) => ({ path: `u/file${n}`, content }));
  const messages = [{ role: "user" as const, text: "Look", files }];
  const asked = adapter.generate(request({ messages, ...changes }), {
    signal: new AbortController().signal,
  });
  const error = await asked.then(() => null, (reason) => reason);
  return { body: bodies[0] === undefined ? null : JSON.parse(bodies[0]), error };
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

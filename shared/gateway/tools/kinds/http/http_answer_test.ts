import assert from "node:assert/strict";
import { contentText } from "../../../../platform/values/content_text.ts";
import { NUMBERS_AS_TEXT } from "../../../tool_contracts/exact_structure.ts";
import { readHttpAnswer } from "./http_answer.ts";

const FROM = { server: "charts", credential: null };

async function answerOf(response: Response) {
  const answer = await readHttpAnswer(response, FROM);
  assert.ok(answer.kind === "answered");
  return answer;
}

const typed = (body: BodyInit, type: string, status = 200) =>
  new Response(body, { status, headers: { "content-type": type } });

Deno.test("readHttpAnswer() returns an image as a block, not as text", async () => {
  const { text, content } = await answerOf(typed(new Uint8Array([1, 2, 3]), "image/png"));

  assert.deepEqual(content, [{ type: "image", data: "AQID", mimeType: "image/png" }]);
  assert.match(text, /image of type image\/png/);
});

Deno.test("readHttpAnswer() returns other bytes as a resource that hides the address", async () => {
  const pdf = typed("%PDF-", "application/pdf; name=a.pdf");

  const { content } = await answerOf(pdf);

  assert.deepEqual(content, [{
    type: "resource",
    resource: { uri: "response:body", mimeType: "application/pdf", blob: btoa("%PDF-") },
  }]);
});

Deno.test("readHttpAnswer() reads no file that is too large, and no file of an error", async () => {
  const large = await answerOf(typed(new Uint8Array(4_000_000), "image/png"));
  const failed = await answerOf(typed(new Uint8Array([1]), "image/png", 500));

  assert.match(large.text, /more than \d+ bytes of image\/png, not shown/);
  assert.deepEqual([large.content, failed.content], [undefined, undefined]);
  assert.match(failed.text, /HTTP 500 from 'charts': \(a body of type image\/png, not shown\)/);
});

Deno.test("readHttpAnswer() does not treat an empty body of any type as a file", async () => {
  const { text, content } = await answerOf(typed("", "application/octet-stream"));

  assert.deepEqual([text, content], ["", undefined]);
});

Deno.test("readHttpAnswer() reads a media type in any case, and the charset that it names", async () => {
  const json = await answerOf(typed('{"a":1}', "Application/JSON; charset=UTF-8"));
  const latin = await answerOf(
    typed(new Uint8Array([0x5a, 0xfc, 0x72, 0x69]), 'Text/HTML; charset="ISO-8859-1"'),
  );
  const unknown = await answerOf(typed("Zürich", "text/plain; charset=x-nothing"));

  assert.deepEqual([json.structured, json.content], [{ a: 1 }, undefined]);
  assert.deepEqual([latin.text, unknown.text], ["Züri", "Zürich"]);
});

Deno.test("readHttpAnswer() gives programs numbers that they would round as text, and says so", async () => {
  const body = '{"id":1610521604143693812,"rows":[{"n":-9007199254740993,"x":1e400}],"ok":15}';
  const { text, structured, content = [] } = await answerOf(typed(body, "application/json"));

  assert.equal(text, body);
  assert.deepEqual(structured, {
    id: "1610521604143693812",
    rows: [{ n: "-9007199254740993", x: "1e400" }],
    ok: 15,
  });
  assert.equal(contentText(content), `${body}\n(Note: ${NUMBERS_AS_TEXT}.)`);
});

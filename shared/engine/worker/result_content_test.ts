import assert from "node:assert/strict";
import type { ContentBlock } from "../../platform/values/content_block.ts";
import { resultPiece, type ReturnedFile } from "./result_content.ts";

const PNG = "\x89PNG\r\n\x1a\nrest";

function pieceOf(block: ContentBlock) {
  return resultPiece(block);
}

function fileOf(block: ContentBlock): ReturnedFile {
  const piece = pieceOf(block);
  assert.ok(piece.kind === "file", JSON.stringify(piece));
  return piece.file;
}

const image = (data: string, mimeType = "image/png"): ContentBlock => ({
  type: "image",
  data,
  mimeType,
});
const blob = (uri: string, content: string, mimeType?: string): ContentBlock => ({
  type: "resource",
  resource: { uri, blob: btoa(content), ...(mimeType === undefined ? {} : { mimeType }) },
});

Deno.test("resultPiece() detects an image's type instead of trusting the tool", () => {
  const jpeg = fileOf(image(btoa("\xff\xd8\xffrest"), "image/png"));
  const svg = fileOf(image(btoa("<svg/>"), "image/svg+xml"));

  assert.deepEqual([jpeg.mediaType, jpeg.extension], ["image/jpeg", "jpg"]);
  assert.deepEqual([svg.mediaType, svg.extension], ["application/octet-stream", "bin"]);
});

Deno.test("resultPiece() accepts base64 with line breaks and in the URL alphabet", () => {
  const wrapped = fileOf(image(btoa(PNG).replace(/.{4}/g, "$&\r\n")));
  const bytes = new Uint8Array([0xfb, 0xff, 0xbf]);
  const forUrls = fileOf(image("-_-_"));

  assert.equal(wrapped.mediaType, "image/png");
  assert.deepEqual(forUrls.body, bytes);
});

for (const data of ["", "  \n", "not base64!", "====", "data:image/png;base64,AAAA"]) {
  Deno.test(`resultPiece() reports an image with the data ${JSON.stringify(data)} as unreadable`, () => {
    const piece = pieceOf(image(data));

    assert.ok(piece.kind === "text");
    assert.match(piece.text, /image of type image\/png, omitted/);
  });
}

Deno.test("resultPiece() shows a text resource and stores it as a file of its type", () => {
  const resource = { uri: "repo://docs/guide.md?ref=main#top", text: "# Guide" };

  const piece = pieceOf({ type: "resource", resource });

  assert.ok(piece.kind === "file");
  assert.equal(piece.text, "# Guide");
  assert.deepEqual([piece.file.body, piece.file.extension], ["# Guide", "md"]);
});

Deno.test("resultPiece() shows bytes that are declared as text and readable", () => {
  const json = pieceOf(blob("mem://a.json", '{"a":1}', "application/json"));
  const broken = pieceOf(blob("mem://a.txt", "\xff\xfe\xfd", "text/plain"));

  assert.ok(json.kind === "file" && broken.kind === "file");
  assert.equal(json.text, '{"a":1}');
  assert.equal(broken.text, null);
  assert.equal(broken.file.mediaType, "application/octet-stream");
});

Deno.test("resultPiece() gives unknown bytes no image or document extension", () => {
  const names = ["x://a.png", "x://a.PDF", "x://archive.zip", "x://none", "x://a.verylongending"];

  const extensions = names.map((name) => fileOf(blob(name, "bytes")).extension);

  assert.deepEqual(extensions, ["bin", "bin", "zip", "bin", "bin"]);
  const text = fileOf({ type: "resource", resource: { uri: "x://a.png", text: "no image" } });
  assert.equal(text.extension, "txt");
});

for (
  const [start, mediaType] of [
    [PNG, "image/png"],
    ["GIF89a", "image/gif"],
    ["RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
    ["%PDF-1.7", "application/pdf"],
    ["RIFF\0\0\0\0WAVEfmt ", "audio/wav"],
    ["OggS", "audio/ogg"],
    ["RIFF", "application/octet-stream"],
    ["P", "application/octet-stream"],
  ] as const
) {
  Deno.test(`resultPiece() knows ${JSON.stringify(start)} as ${mediaType}`, () => {
    assert.equal(fileOf(blob("x://unnamed", start)).mediaType, mediaType);
  });
}

Deno.test("resultPiece() shows the address of a resource link", () => {
  const piece = pieceOf({ type: "resource_link", uri: "file:///a.png", name: "a.png" });

  assert.deepEqual(piece, { kind: "text", text: "(resource a.png: file:///a.png)" });
});

import assert from "node:assert/strict";
import { bundleExtension } from "./extension_bundle.ts";

const FILES = [
  { name: "x.control", content: "comment = 'ü'\n" },
  { name: "x--1.0.sql", content: "select 1;\n".repeat(100) },
];

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads an archive like a tar program, checking the checksum of each header. */
function readTar(archive: Uint8Array): Record<string, string> {
  const entries: Record<string, string> = {};
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/\0[\s\S]*$/, "");
  for (let offset = 0; archive[offset] !== 0;) {
    const header = archive.slice(offset, offset + 512);
    const sum = Number.parseInt(text(header.slice(148, 154)), 8);
    header.fill(32, 148, 156);
    assert.equal(header.reduce((total, byte) => total + byte, 0), sum);
    const sizeBytes = Number.parseInt(text(header.slice(124, 136)), 8);
    const start = offset + 512;
    entries[text(header.slice(0, 100))] = new TextDecoder().decode(
      archive.slice(start, start + sizeBytes),
    );
    offset = start + Math.ceil(sizeBytes / 512) * 512;
  }
  return entries;
}

Deno.test("bundleExtension() puts files where Postgres looks for extensions", async () => {
  const entries = readTar(await gunzip(await bundleExtension("x", FILES)));

  assert.deepEqual(entries, {
    "share/postgresql/extension/x.control": FILES[0]?.content,
    "share/postgresql/extension/x--1.0.sql": FILES[1]?.content,
  });
});

Deno.test("bundleExtension() is deterministic", async () => {
  assert.deepEqual(await bundleExtension("x", FILES), await bundleExtension("x", FILES));
});

Deno.test("bundleExtension() refuses an empty bundle and a name too long for tar", async () => {
  await assert.rejects(bundleExtension("x", []), RangeError);
  await assert.rejects(bundleExtension("x", [{ name: "n".repeat(100), content: "" }]), RangeError);
});

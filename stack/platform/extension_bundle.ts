import type { ExtensionFile } from "./platform_files.ts";

const BLOCK_BYTES = 512;
const EXTENSION_FOLDER = "share/postgresql/extension";

/**
 * Packs an extension as the `.tar.gz` that PGlite unpacks over its file system before
 * `create extension`. The same files always give the same archive.
 *
 * @throws RangeError when a file's path is longer than the 100 bytes of a plain tar header.
 */
export async function bundleExtension(
  name: string,
  files: readonly ExtensionFile[],
): Promise<Uint8Array<ArrayBuffer>> {
  if (files.length === 0) {
    throw new RangeError(`Cannot bundle extension '${name}': it has no files`);
  }
  const blocks = files.flatMap((file) =>
    tarEntry(`${EXTENSION_FOLDER}/${file.name}`, new TextEncoder().encode(file.content))
  );
  // An archive ends with two empty blocks.
  const archive = new Blob([...blocks, new Uint8Array(2 * BLOCK_BYTES)]);
  const gzipped = archive.stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(gzipped).arrayBuffer());
}

function tarEntry(path: string, content: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const padding = new Uint8Array((BLOCK_BYTES - content.length % BLOCK_BYTES) % BLOCK_BYTES);
  return [tarHeader(path, content.length), content, padding];
}

/** The 512-byte "ustar" header of a regular file, readable by all and dated 1970. */
function tarHeader(path: string, sizeBytes: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(BLOCK_BYTES);
  const encoder = new TextEncoder();
  const put = (offset: number, text: string) => header.set(encoder.encode(text), offset);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0") + "\0";
  if (encoder.encode(path).length > 100) {
    throw new RangeError(`Cannot bundle '${path}': the path is longer than 100 bytes`);
  }
  put(0, path);
  put(100, octal(0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(sizeBytes, 11));
  put(136, octal(0, 11));
  put(148, " ".repeat(8)); // the checksum counts its own field as blanks
  put(156, "0");
  put(257, "ustar\x0000");
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  put(148, checksum.toString(8).padStart(6, "0") + "\0 ");
  return header;
}

import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { SkillFile } from "../../shared/engine/skills/skill.ts";
import { damagedArchive, largeArchive } from "./archive_errors.ts";
import { MAX_FILE_BYTES, MAX_FILE_COUNT, MAX_TOTAL_BYTES } from "./archive_limits.ts";

const BLOCK_BYTES = 512;

/** Supported entry types of the tar format. */
const REGULAR_FILE = ["0", "\0", "7"];
const GNU_LONG_NAME = "L";
const PAX_HEADER = "x";

/**
 * Unpacks a gzipped tar archive into memory and writes nothing to disk. Supports the ustar format
 * with the long names of GNU and PAX. Skips links and devices.
 *
 * @throws SKILL_INVALID when it is damaged or larger than the limits of an import.
 */
export async function readTarGz(archive: Uint8Array): Promise<readonly SkillFile[]> {
  const tar = await gunzip(archive);
  const files: SkillFile[] = [];
  let longName: string | null = null;
  for (const { type, name, bytes } of entriesOf(tar)) {
    if (type === GNU_LONG_NAME) {
      longName = textOf(bytes);
    } else if (type === PAX_HEADER) {
      longName = paxPath(bytes) ?? longName;
    } else {
      const path = (longName ?? name).replace(/^(\.\/)+/, "");
      longName = null;
      if (REGULAR_FILE.includes(type) && !path.endsWith("/")) files.push({ path, bytes });
    }
    if (files.length > MAX_FILE_COUNT || bytes.byteLength > MAX_FILE_BYTES) throw largeArchive();
  }
  return files;
}

interface TarEntry {
  readonly type: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

function* entriesOf(tar: Uint8Array): Generator<TarEntry> {
  let offset = 0;
  while (offset + BLOCK_BYTES <= tar.byteLength) {
    const header = tar.subarray(offset, offset + BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return;
    assertChecksum(header);
    const size = octal(header.subarray(124, 136));
    const begin = offset + BLOCK_BYTES;
    if (begin + size > tar.byteLength) throw damagedArchive("it ends in the middle of a file");
    const prefix = isUstar(header) ? textOf(header.subarray(345, 500)) : "";
    const name = textOf(header.subarray(0, 100));
    yield {
      type: String.fromCharCode(header[156] ?? 0),
      name: prefix === "" ? name : `${prefix}/${name}`,
      bytes: tar.slice(begin, begin + size),
    };
    offset = begin + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
}

function isUstar(header: Uint8Array): boolean {
  return textOf(header.subarray(257, 262)) === "ustar";
}

/** Checks the header's checksum, for which its own field counts as spaces. */
function assertChecksum(header: Uint8Array): void {
  const sum = header.reduce(
    (total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte),
    0,
  );
  if (sum !== octal(header.subarray(148, 156))) {
    throw damagedArchive("a header's checksum is wrong");
  }
}

function octal(field: Uint8Array): number {
  const digits = textOf(field).trim();
  if (!/^[0-7]+$/.test(digits)) throw damagedArchive("a header has an invalid number");
  return parseInt(digits, 8);
}

/** PAX records are lines of `<length> <key>=<value>`. */
function paxPath(bytes: Uint8Array): string | null {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(textOf(bytes))?.[1] ?? null;
}

/** Returns the text up to the first NUL. */
function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Each piece unpacks to at most a thousand times its size before the next one is read. */
const PIECE_BYTES = 4_096;

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.byteLength) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(offset, offset + PIECE_BYTES)));
      offset += PIECE_BYTES;
    },
  }, { highWaterMark: 0 });
}

async function gunzip(archive: Uint8Array): Promise<Uint8Array> {
  const stream = piecesOf(archive).pipeThrough(new DecompressionStream("gzip"));
  const chunks: Uint8Array[] = [];
  let totalBytes = 0;
  try {
    for await (const chunk of stream) {
      totalBytes += chunk.byteLength;
      if (totalBytes > MAX_TOTAL_BYTES) throw largeArchive();
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof SwarmError) throw cause;
    throw damagedArchive("it is not a valid gzip file", cause);
  }
  return new Uint8Array(await new Blob(chunks.map((chunk) => chunk.slice())).arrayBuffer());
}

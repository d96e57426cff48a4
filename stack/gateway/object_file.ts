import { z } from "../../shared/vendor/zod.js";
import { sha256Hex } from "../../shared/platform/values/sha256_hex.ts";

/** The metadata in front of an object's bytes. */
const headSchema = z.object({ mimetype: z.string(), cacheControl: z.string() });

/** Content type and cache rule of an object. */
export type ObjectHead = z.infer<typeof headSchema>;

/** An object's file without its bytes. */
export interface ObjectStat {
  readonly head: ObjectHead;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
}

/** The head is JSON, padded to this length. The object's bytes follow it. */
const HEAD_BYTES = 1024;

/**
 * Returns the path of an object's file. The name is a hash, so no bucket or key can point outside
 * of `root`.
 */
export function objectPath(root: string, bucket: string, key: string): string {
  const hash = sha256Hex(JSON.stringify([bucket, key]));
  return `${root}/${hash.slice(0, 2)}/${hash}`;
}

/**
 * Writes an object's file atomically.
 *
 * @throws RangeError when content type and cache rule do not fit the head.
 */
export async function writeObjectFile(
  path: string,
  head: ObjectHead,
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const headBytes = new TextEncoder().encode(JSON.stringify(head).padEnd(HEAD_BYTES));
  if (headBytes.length > HEAD_BYTES) throw new RangeError("The object's content type is too long");
  await replaceFile(path, async (draft) => {
    const file = await Deno.open(draft, { write: true, createNew: true });
    const writer = file.writable.getWriter();
    try {
      await writer.write(headBytes);
      // Not pipeTo(): Deno would copy a request's body into the file before the head.
      for await (const chunk of bytes) await writer.write(chunk);
      await writer.close();
    } catch (error) {
      await writer.abort(error);
      throw error;
    }
  });
}

/** Copies an object's file atomically. */
export async function copyObjectFile(from: string, to: string): Promise<void> {
  await replaceFile(to, (draft) => Deno.copyFile(from, draft));
}

/** Reads head and size of an object's file. */
export async function statObjectFile(path: string): Promise<ObjectStat> {
  using file = await Deno.open(path);
  return await readStat(file);
}

/** Opens an object for reading. The caller must read `body` to its end or cancel it. */
export async function readObjectFile(
  path: string,
): Promise<ObjectStat & { readonly body: ReadableStream<Uint8Array<ArrayBuffer>> }> {
  const file = await Deno.open(path);
  try {
    return { ...await readStat(file), body: file.readable };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function readStat(file: Deno.FsFile): Promise<ObjectStat> {
  const head = new Uint8Array(HEAD_BYTES);
  // A read of a regular file returns a block of this size at once.
  await file.read(head);
  const { size, mtime } = await file.stat();
  return {
    head: headSchema.parse(JSON.parse(new TextDecoder().decode(head))),
    sizeBytes: size - HEAD_BYTES,
    modifiedAt: mtime ?? new Date(0),
  };
}

async function replaceFile(path: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  try {
    await write(draft);
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}

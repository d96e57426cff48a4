import type { Bytes } from "../../platform/values/bytes.ts";
import { Buffer } from "node:buffer";
import type {
  ContentBlock,
  MediaBlock,
  ResourceContents,
} from "../../platform/values/content_block.ts";
import { contentText } from "../../platform/values/content_text.ts";
import { type FileSignature, fileSignature } from "../../platform/values/file_signature.ts";

/** A file in a tool's result, before it is stored. */
export interface ReturnedFile {
  /** The tool's name of the file, or null. */
  readonly name: string | null;
  readonly body: string | Bytes;
  readonly mediaType: string;
  /** Extension of the stored object, without a dot. */
  readonly extension: string;
}

/** A piece of a tool's result. */
export type ResultPiece =
  | { readonly kind: "text"; readonly text: string }
  /** `text` is shown to the model in addition to the path. */
  | { readonly kind: "file"; readonly file: ReturnedFile; readonly text: string | null };

/** A file whose type cannot be detected from its bytes. */
const UNKNOWN: FileSignature = { mediaType: "application/octet-stream", extension: "bin" };
const TEXT: FileSignature = { mediaType: "text/plain", extension: "txt" };
const TEXT_TYPES = /^(text\/|application\/([\w.+-]*\+)?(json|xml|yaml|x-yaml|javascript|sql)\b)/i;
/** Extensions with which a later task input would treat a file as an image or a document. */
const SHOWN_EXTENSIONS = /^(png|jpe?g|gif|webp|pdf)$/;

/** Converts a block of a tool's result to text for the model or to a file. */
export function resultPiece(block: ContentBlock): ResultPiece {
  switch (block.type) {
    case "text":
    case "resource_link":
      return { kind: "text", text: contentText([block]) };
    case "image":
    case "audio":
      return mediaPiece(block);
    case "resource":
      return resourcePiece(block.resource);
  }
}

function mediaPiece({ type, data, mimeType }: MediaBlock): ResultPiece {
  const bytes = fromBase64(data);
  if (bytes === null) return { kind: "text", text: unreadable(`${type} of type ${mimeType}`) };
  return { kind: "file", file: binaryFile(bytes, null), text: null };
}

function resourcePiece({ uri, text, blob, mimeType = "" }: ResourceContents): ResultPiece {
  if (text !== undefined) return { kind: "file", file: textFile(text, uri), text };
  const bytes = fromBase64(blob ?? "");
  if (bytes === null) return { kind: "text", text: unreadable(`resource ${uri}`) };
  const decoded = TEXT_TYPES.test(mimeType) ? utf8Text(bytes) : null;
  return decoded === null
    ? { kind: "file", file: binaryFile(bytes, uri), text: null }
    : { kind: "file", file: textFile(decoded, uri), text: decoded };
}

function unreadable(what: string): string {
  return `(${what}, omitted: its data is empty or not base64)`;
}

function binaryFile(body: Bytes, name: string | null): ReturnedFile {
  const signature = fileSignature(body);
  if (signature !== null) return { name, body, ...signature };
  const named = extensionOf(name);
  const extension = named === null || SHOWN_EXTENSIONS.test(named) ? UNKNOWN.extension : named;
  return { name, body, mediaType: UNKNOWN.mediaType, extension };
}

function textFile(body: string, name: string): ReturnedFile {
  const named = extensionOf(name);
  const extension = named === null || SHOWN_EXTENSIONS.test(named) ? TEXT.extension : named;
  return { name, body, mediaType: TEXT.mediaType, extension };
}

/** Returns the extension of the last part of an address or a path, without its query. */
function extensionOf(name: string | null): string | null {
  const path = (name ?? "").replace(/[?#].*$/s, "");
  return /[^/]\.([a-z0-9]{1,10})$/i.exec(path)?.[1]?.toLowerCase() ?? null;
}

/** Decodes base64, also with the URL alphabet and line breaks. Returns null if empty or invalid. */
function fromBase64(data: string): Bytes | null {
  const compact = data.replaceAll(/\s+/g, "");
  if (compact === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact)) return null;
  // Copy the bytes, because Node's small buffers share their memory.
  return Uint8Array.from(Buffer.from(compact, "base64"));
}

function utf8Text(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

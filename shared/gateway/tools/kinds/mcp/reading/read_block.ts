import { Buffer } from "node:buffer";
import type { Bytes } from "../../../../../platform/values/bytes.ts";
import { fileSignature } from "../../../../../platform/values/file_signature.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../../platform/values/json.ts";
import { eachOf, kindOfPart, members, type PartReader, readPart, text } from "./parts.ts";
import { BLOCK_BASE, RESOURCE } from "./shapes.ts";
import { withoutTrailing } from "../../../../../platform/values/without_trailing.ts";

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;
/** Enough to recognize a file. */
const SIGNATURE_CHARACTERS = 64;

/**
 * A block of content as the protocol defines it. What cannot be read is kept as text where it can
 * be, and named.
 */
export function readBlock(value: JsonValue, path: string, leftOut: string[]): JsonObject {
  if (!isJsonObject(value)) {
    leftOut.push(`${path} is ${kindOfPart(value)} instead of a block, shown as text`);
    return asText(value);
  }
  const type = typeOf(value);
  if (type !== null && type !== value.type) {
    leftOut.push(`${path}.type is ${kindOfPart(value.type)}, read as '${type}'`);
  }
  const read = type === null ? undefined : READERS[type]({ ...value, type }, path, leftOut);
  if (isJsonObject(read)) return read;
  leftOut.push(
    `${path} is a block of type ${kindOfPart(value.type)} that cannot be read, shown as text`,
  );
  return asText(value);
}

/** The blocks of a list, or of one block or text that stands alone. */
export function readBlocks(
  value: JsonValue | undefined,
  path: string,
  leftOut: string[],
): JsonObject[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) {
    leftOut.push(`${path} is ${kindOfPart(value)} instead of a list`);
    // Its own kind is named already.
    return [isJsonObject(value) ? readBlock(value, path, leftOut) : asText(value)];
  }
  return value.flatMap((block, index) =>
    block === null ? [] : [readBlock(block, `${path}[${index}]`, leftOut)]
  );
}

function asText(value: JsonValue): JsonObject {
  return { type: "text", text: typeof value === "string" ? value : JSON.stringify(value) };
}

type BlockType = "text" | "image" | "audio" | "resource" | "resource_link";

function typeOf({ type, text: ownText, data, resource, uri }: JsonObject): BlockType | null {
  if (typeof type === "string") {
    const known = type.toLowerCase();
    return isBlockType(known) ? known : null;
  }
  if (typeof ownText === "string") return "text";
  if (isJsonObject(resource)) return "resource";
  if (typeof data === "string") return "image";
  return typeof uri === "string" ? "resource_link" : null;
}

function isBlockType(type: string): type is BlockType {
  return Object.hasOwn(READERS, type);
}

/** A text that is another value is shown as its JSON. */
const textBlock: PartReader = (block, path, leftOut) => {
  if (!isJsonObject(block)) return undefined;
  const { text: given = null } = block;
  if (typeof given !== "string") leftOut.push(`${path}.text is ${kindOfPart(given)}`);
  const shown = given === null ? "" : asText(given).text ?? "";
  return members(BLOCK_BASE)({ ...block, text: shown }, path, leftOut);
};

const mediaBlock: PartReader = (block, path, leftOut) => {
  if (!isJsonObject(block) || typeof block.data !== "string") return undefined;
  const [, urlType = ""] = DATA_URL.exec(block.data) ?? [];
  const data = toBase64(block.data);
  if (data === null) return undefined;
  const mimeType = typeof block.mimeType === "string" && block.mimeType !== ""
    ? block.mimeType
    : urlType || signatureOf(data);
  if (mimeType !== block.mimeType) {
    leftOut.push(`${path}.mimeType is ${kindOfPart(block.mimeType)}, read as '${mimeType}'`);
  }
  return members(BLOCK_BASE)({ ...block, data, mimeType }, path, leftOut);
};

const resourceLink: PartReader = (block, path, leftOut) => {
  const read = members({ ...RESOURCE, mimeType: text }, ["uri"])(block, path, leftOut);
  return isJsonObject(read) ? { ...read, name: read.name ?? read.uri ?? "" } : undefined;
};

/** A resource without an address can still be shown. */
const resourceBlock: PartReader = (block, path, leftOut) => {
  if (!isJsonObject(block)) return undefined;
  const resource = readPart(block.resource, resourceContents, `${path}.resource`, leftOut);
  if (resource === undefined) return undefined;
  return members(BLOCK_BASE)({ ...block, resource }, path, leftOut);
};

/** A resource's content: text, or bytes in base64. */
export function resourceContents(
  value: JsonValue,
  path: string,
  leftOut: string[],
): JsonValue | undefined {
  const blob: PartReader = (given) =>
    typeof given === "string" ? toBase64(given) ?? undefined : undefined;
  const read = members({ uri: text, mimeType: text, text, blob, _meta: BLOCK_BASE._meta })(
    value,
    path,
    leftOut,
  );
  if (!isJsonObject(read) || (read.text === undefined && read.blob === undefined)) return undefined;
  if (read.uri !== undefined) return read;
  leftOut.push(`${path}.uri is missing`);
  return { ...read, uri: "resource:unnamed" };
}

const READERS: Readonly<Record<BlockType, PartReader>> = {
  text: textBlock,
  image: mediaBlock,
  audio: mediaBlock,
  resource: resourceBlock,
  resource_link: resourceLink,
};

/** The messages of a prompt, each with one block. */
export const promptMessages = eachOf((message, path, leftOut) => {
  if (!isJsonObject(message)) return undefined;
  const blocks = readBlocks(message.content, `${path}.content`, leftOut);
  const [content = asText("")] = blocks;
  if (blocks.length !== 1) {
    leftOut.push(`${path}.content is a list of ${blocks.length} blocks instead of one`);
  }
  const role = message.role === "assistant" ? "assistant" : "user";
  if (role !== message.role) {
    leftOut.push(`${path}.role is ${kindOfPart(message.role)}, read as 'user'`);
  }
  return { ...message, role, content };
});

/**
 * Base64 in the standard alphabet, without white space and the beginning of a data URL; null if the
 * text is something else.
 */
function toBase64(given: string): string | null {
  const compact = given.replace(DATA_URL, "").replaceAll(/\s+/g, "");
  const data = withoutTrailing(compact.replaceAll("-", "+").replaceAll("_", "/"), "=");
  if (!/^[A-Za-z0-9+/]*$/.test(data) || data.length % 4 === 1) return null;
  return data.padEnd(Math.ceil(data.length / 4) * 4, "=");
}

function signatureOf(base64: string): string {
  const bytes: Bytes = new Uint8Array(Buffer.from(base64.slice(0, SIGNATURE_CHARACTERS), "base64"));
  return fileSignature(bytes)?.mediaType ?? "application/octet-stream";
}

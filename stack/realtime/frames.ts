import { z } from "../../shared/vendor/zod.js";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";

/** The protocol's versions: 1.0.0 has JSON objects, 2.0.0 has JSON arrays and binary broadcasts. */
export type ProtocolVersion = "1.0.0" | "2.0.0";

/** One message of the protocol, independent of its wire format. */
export interface Frame {
  readonly joinRef: string | null;
  readonly ref: string | null;
  readonly topic: string;
  readonly event: string;
  readonly payload: unknown;
}

/** A frame that a client sent. */
export interface ReceivedFrame extends Frame {
  /** The size on the wire. */
  readonly bytes: number;
}

/** A broadcast to subscribers. A `Uint8Array` payload is passed on unchanged. */
export interface Broadcast {
  /** The wire topic, with its `realtime:` prefix. */
  readonly topic: string;
  readonly event: string;
  readonly payload: JsonValue | Uint8Array;
  readonly meta?: { readonly id: string; readonly replayed?: true };
}

const PUSH_KIND = 3;
const BROADCAST_KIND = 4;
const JSON_ENCODING = 1;
const BINARY_ENCODING = 0;
const MAX_FIELD_BYTES = 255;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

const ref = z.string().nullish().transform((value) => value ?? null);
const arrayFrame = z.tuple([ref, ref, z.string(), z.string(), z.unknown()]);
const objectFrame = z.object({
  join_ref: ref,
  ref,
  topic: z.string(),
  event: z.string(),
  payload: z.unknown(),
});

/**
 * Decodes a client's message. Converts a binary push to the equivalent frame of protocol 1.0.0:
 * event `broadcast`, payload `{type, event, payload}`.
 *
 * @returns `null` when the data is not a frame of that version.
 */
export function decodeFrame(data: unknown, version: ProtocolVersion): ReceivedFrame | null {
  try {
    if (data instanceof ArrayBuffer) {
      return version === "2.0.0" ? decodePush(new Uint8Array(data)) : null;
    }
    if (typeof data !== "string") return null;
    const frame = version === "2.0.0" ? decodeArray(data) : decodeObject(data);
    return { ...frame, bytes: data.length };
  } catch {
    // The JSON, UTF-8 or lengths are malformed.
    return null;
  }
}

/** Encodes a frame for a client of that version. */
export function encodeFrame(frame: Frame, version: ProtocolVersion): string {
  const { joinRef, ref, topic, event, payload } = frame;
  return version === "2.0.0"
    ? JSON.stringify([joinRef, ref, topic, event, payload])
    : JSON.stringify({ topic, event, payload, ref, join_ref: joinRef });
}

/**
 * Encodes a broadcast for subscribers of that version.
 *
 * @returns `null` for a binary payload in version 1.0.0, which does not support it.
 */
export function encodeBroadcast(
  broadcast: Broadcast,
  version: ProtocolVersion,
): string | Uint8Array<ArrayBuffer> | null {
  const { topic, event, payload, meta } = broadcast;
  if (payload instanceof Uint8Array) {
    return version === "2.0.0" ? encodeBinaryBroadcast(broadcast, payload) : null;
  }
  const body = { type: "broadcast", event, payload, ...definedOnly({ meta }) };
  return encodeFrame(
    { joinRef: null, ref: null, topic, event: "broadcast", payload: body },
    version,
  );
}

function decodeArray(text: string): Frame {
  const [joinRef, ref, topic, event, payload] = arrayFrame.parse(JSON.parse(text));
  return { joinRef, ref, topic, event, payload };
}

function decodeObject(text: string): Frame {
  const { join_ref: joinRef, ref, topic, event, payload } = objectFrame.parse(JSON.parse(text));
  return { joinRef, ref, topic, event, payload };
}

/** `[3, six lengths and the encoding] joinRef ref topic event metadata payload`. */
function decodePush(bytes: Uint8Array): ReceivedFrame | null {
  const [kind, joinRefBytes, refBytes, topicBytes, eventBytes, metaBytes, encoding] = bytes;
  if (kind !== PUSH_KIND || encoding === undefined) return null;
  let offset = 7;
  const take = (length = 0) => {
    if (offset + length > bytes.length) throw new RangeError("The frame ends early");
    return decoder.decode(bytes.subarray(offset, offset += length));
  };
  const joinRef = take(joinRefBytes) || null;
  const ref = take(refBytes) || null;
  const topic = take(topicBytes);
  const event = take(eventBytes);
  take(metaBytes);
  const raw = bytes.slice(offset);
  const payload = encoding === JSON_ENCODING ? JSON.parse(decoder.decode(raw)) : raw;
  const body = { type: "broadcast", event, payload };
  return { joinRef, ref, topic, event: "broadcast", payload: body, bytes: bytes.length };
}

/** `[4, three lengths and the encoding] topic event metadata payload`. */
function encodeBinaryBroadcast(
  broadcast: Broadcast,
  payload: Uint8Array,
): Uint8Array<ArrayBuffer> | null {
  const fields = [
    encoder.encode(broadcast.topic),
    encoder.encode(broadcast.event),
    encoder.encode(broadcast.meta === undefined ? "" : JSON.stringify(broadcast.meta)),
  ];
  if (fields.some((field) => field.length > MAX_FIELD_BYTES)) return null;
  const header = [BROADCAST_KIND, ...fields.map((field) => field.length), BINARY_ENCODING];
  return concatenate([new Uint8Array(header), ...fields, payload]);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

import { z } from "../../../shared/vendor/zod.js";
import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { jsonObject } from "../../../shared/platform/values/json_schema.ts";

/** Protocol revision without a handshake. */
export const MODERN = "2026-07-28";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
};

const rpcSchema = z.looseObject({
  jsonrpc: z.literal("2.0").optional(),
  result: jsonObject.optional(),
  error: z.looseObject({ code: z.union([z.number(), z.string()]), message: z.string() }).optional(),
  method: z.string().optional(),
  params: jsonObject.optional(),
});

export type RpcMessage = z.infer<typeof rpcSchema>;

/** The endpoint's response. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** In order; one, unless the response was a stream. */
  readonly messages: readonly RpcMessage[];
  /** The last message; empty if there was none. */
  readonly last: RpcMessage;
}

/** One message to send. */
export interface RawMessage {
  /** Path below `/functions/v1/mcp`. @default "" */
  readonly path?: string;
  readonly method: string;
  readonly params?: JsonObject;
  /** Null removes a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** `legacy` sends no envelope and no protocol headers. @default "modern" */
  readonly era?: "modern" | "legacy";
  readonly signal?: AbortSignal;
}

/** Creates the function that sends messages to a project as one caller. */
export function rawClient(
  apiUrl: string,
  credentials: Readonly<Record<string, string>>,
): (message: RawMessage) => Promise<RawAnswer> {
  return async (message) => {
    const response = await fetch(`${apiUrl}/functions/v1/mcp${message.path ?? ""}`, {
      method: "POST",
      headers: headersOf(message, credentials),
      body: JSON.stringify(bodyOf(message)),
      ...definedOnly({ signal: message.signal }),
    });
    const messages = parseMessages(response, await response.text());
    const { status, headers } = response;
    return { status, headers, messages, last: messages.at(-1) ?? {} };
  };
}

function bodyOf({ method, params = {}, era = "modern" }: RawMessage): JsonObject {
  const meta = jsonObject.safeParse(params._meta).data ?? {};
  const full = era === "legacy" ? params : { ...params, _meta: { ...ENVELOPE, ...meta } };
  return { jsonrpc: "2.0", id: 1, method, params: full };
}

function headersOf(
  { method, params = {}, era = "modern", headers = {} }: RawMessage,
  credentials: Readonly<Record<string, string>>,
): Headers {
  const name = params.name ?? params.uri;
  const all = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...credentials,
    ...(era === "legacy" ? {} : { "mcp-protocol-version": MODERN, "mcp-method": method }),
    ...(era === "legacy" || typeof name !== "string" ? {} : { "mcp-name": name }),
  });
  for (const [key, value] of Object.entries(headers)) {
    if (value === null) all.delete(key);
    else all.set(key, value);
  }
  return all;
}

function parseMessages(response: Response, text: string): RpcMessage[] {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream) return text === "" ? [] : [rpcSchema.parse(JSON.parse(text))];
  return text.split("\n").filter((line) => line.startsWith("data: "))
    .map((line) => rpcSchema.parse(JSON.parse(line.slice(6))));
}

/** The error report of a failed call. */
export function errorOf(result: JsonObject | undefined): JsonObject {
  const meta = jsonObject.safeParse(result?._meta).data ?? {};
  return jsonObject.safeParse(meta["dev.supaswarm/error"]).data ?? {};
}

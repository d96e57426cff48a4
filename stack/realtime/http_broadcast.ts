import { z } from "../../shared/vendor/zod.js";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import type { ChannelServices } from "./channel.ts";
import { mayWrite } from "./channel_rights.ts";
import { identityByKey, type Keys, readableHeaders, unknownKey } from "./handshake.ts";
import { identify, type Identity } from "./identity.ts";

interface HttpBroadcastOptions extends Keys {
  readonly services: ChannelServices;
}

const message = z.object({
  topic: z.string().min(1),
  event: z.string(),
  payload: z.custom<JsonValue | Uint8Array>((value) => value !== undefined),
  private: z.boolean().nullish().transform((value) => value ?? false),
});
const batch = z.object({ messages: z.array(message) });

/** A message received over HTTP. */
type HttpMessage = z.infer<typeof message>;

/**
 * Handles `POST /api/broadcast` with the body `{"messages": [{topic, event, payload, private?}]}`,
 * and `POST /api/broadcast/<topic>/events/<event>[?private=true]` with the payload as body.
 *
 * Responds with 202 even for a private message that the caller may not send; it drops that message.
 */
export async function answerBroadcast(
  request: Request,
  path: string,
  options: HttpBroadcastOptions,
): Promise<Response> {
  if (request.method !== "POST") return refuse(405, "Method not allowed");
  const keyIdentity = identityByKey(request, options);
  if (keyIdentity === null) return unknownKey();
  const caller = await identifyCaller(request, keyIdentity, options.services);
  if (typeof caller === "string") return refuse(401, caller);
  const messages = await readMessages(request, path);
  if (messages === null) {
    return refuse(422, "Cannot send the broadcast: its path or body is invalid");
  }
  await send(messages, { identity: caller, headers: readableHeaders(request.headers) }, options);
  return new Response(null, { status: 202 });
}

async function identifyCaller(
  request: Request,
  keyIdentity: Identity,
  { verifyToken }: ChannelServices,
): Promise<Identity | string> {
  const token = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (token === undefined || token.startsWith("sb_")) return keyIdentity;
  const result = await identify(token, verifyToken);
  return result.kind === "identified" ? result.identity : `${result.code}: ${result.message}`;
}

async function readMessages(request: Request, path: string): Promise<HttpMessage[] | null> {
  try {
    const { pathname, search } = new URL(path, request.url);
    if (pathname === "/api/broadcast") return batch.parse(await request.json()).messages;
    const [, topic = "", event = ""] =
      /^\/api\/broadcast\/([^/]+)\/events\/([^/]+)$/.exec(pathname) ?? [];
    const isBinary = request.headers.get("content-type") === "application/octet-stream";
    return [message.parse({
      topic: decodeURIComponent(topic),
      event: decodeURIComponent(event),
      payload: isBinary ? await request.bytes() : await request.json(),
      private: new URLSearchParams(search).get("private") === "true",
    })];
  } catch {
    // The JSON, the fields of a message or the URL encoding are invalid.
    return null;
  }
}

async function send(
  messages: readonly HttpMessage[],
  caller: { readonly identity: Identity; readonly headers: Readonly<Record<string, string>> },
  { services }: HttpBroadcastOptions,
): Promise<void> {
  const rights = new Map<string, boolean>();
  for (const { topic, event, payload, private: isPrivate } of messages) {
    if (isPrivate && !rights.has(topic)) {
      rights.set(topic, await mayWrite(services, "broadcast", { ...caller, topic }));
    }
    if (!isPrivate || rights.get(topic)) {
      services.hub.broadcast({ topic, isPrivate }, { event, payload });
    }
  }
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

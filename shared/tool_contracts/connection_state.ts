import { z } from "../vendor/zod.js";
import { jsonObject } from "../json_schema.ts";
import { createRedactor } from "../secrets/redact.ts";

/** What is remembered of a connection, so that the next call needs one request. */
export const connectionStateSchema = z.object({
  /** The negotiated protocol version; null before the first contact. */
  protocol: z.string().nullable(),
  /** What a server of the stateless protocol said of itself; null for one of the earlier protocol. */
  discovery: jsonObject.nullable(),
  /** What a server of the earlier protocol said when it was greeted. */
  session: z.object({
    /** Null for a server that keeps no sessions. */
    id: z.string().nullable(),
    capabilities: jsonObject.optional(),
    instructions: z.string().optional(),
    serverInfo: jsonObject.optional(),
  }).nullable(),
});

/** See {@linkcode connectionStateSchema}. */
export type ConnectionState = z.infer<typeof connectionStateSchema>;

/** Nothing is known of the server yet. */
export const UNKNOWN_CONNECTION: ConnectionState = {
  protocol: null,
  discovery: null,
  session: null,
};

/**
 * What may be stored of a connection: nothing when the server repeats a secret in it, which costs
 * a handshake with each call.
 */
export async function toStorableState(
  state: ConnectionState,
  secrets: readonly string[],
): Promise<ConnectionState> {
  const text = JSON.stringify(state);
  const redacted = await createRedactor(secrets).textInTurns(text);
  return redacted === text ? state : UNKNOWN_CONNECTION;
}

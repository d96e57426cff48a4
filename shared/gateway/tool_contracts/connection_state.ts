import { z } from "../../vendor/zod.js";
import { jsonObject } from "../../platform/values/json_schema.ts";
import { createRedactor } from "../../platform/secrets/redact.ts";

/** The stored state of a connection, so that the next call needs only one request. */
export const connectionStateSchema = z.object({
  /** The negotiated protocol version; null before the first contact. */
  protocol: z.string().nullable(),
  /** The self-description of a server of the stateless protocol; null for the earlier protocol. */
  discovery: jsonObject.nullable(),
  /** The initialize result of a server of the earlier protocol. */
  session: z.object({
    /** Null for a server without sessions. */
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
 * The part of a connection that may be stored: nothing if the server repeats a secret in it, which
 * costs a handshake per call.
 */
export async function toStorableState(
  state: ConnectionState,
  secrets: readonly string[],
): Promise<ConnectionState> {
  const text = JSON.stringify(state);
  const redacted = await createRedactor(secrets).textInTurns(text);
  return redacted === text ? state : UNKNOWN_CONNECTION;
}

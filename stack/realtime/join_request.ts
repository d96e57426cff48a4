import { z } from "../../shared/vendor/zod.js";
import type { JsonValue } from "../../shared/platform/values/json.ts";

const changeRequest = z.looseObject({
  event: z.string().nullish(),
  schema: z.string().nullish(),
  table: z.string().nullish(),
  filter: z.string().nullish(),
  select: z.array(z.string()).nullish(),
});

/** One `postgres_changes` binding of the client. The reply to the join returns it unchanged. */
export type ChangeRequest = z.infer<typeof changeRequest>;

/** Clients in other languages send booleans as text. */
const flag = z.unknown().optional().transform((value) => value === true || value === "true");

const config = z.looseObject({
  private: flag,
  broadcast: z.looseObject({
    ack: flag,
    self: flag,
    replication_ready: flag,
    replay: z.looseObject({
      since: z.number().default(0),
      limit: z.number().int().min(1).max(25).catch(25),
    }).optional(),
  }).nullish(),
  presence: z.looseObject({
    key: z.union([z.string(), z.number(), z.boolean()]).nullish(),
    // Older clients do not send this field, and expect presence.
    enabled: z.unknown().optional().transform((value) => value !== false && value !== "false"),
  }).nullish(),
  postgres_changes: z.array(changeRequest.nullable()).nullish(),
  postgres_changes_options: z.looseObject({ wait: flag }).nullish(),
});

const joinPayload = z.looseObject({
  config: config.nullish(),
  access_token: z.string().nullish(),
  user_token: z.string().nullish(),
});

/** The settings of a client's join. */
export interface JoinRequest {
  readonly isPrivate: boolean;
  /** Whether a broadcast of this client is acknowledged. */
  readonly isAcknowledged: boolean;
  /** Whether this client receives its own broadcasts. */
  readonly isSelfReceiver: boolean;
  readonly wantsReplicationReady: boolean;
  /** Requests at most `limit` stored broadcasts since then (milliseconds since 1970). */
  readonly replay: { readonly sinceMs: number; readonly limit: number } | null;
  readonly presenceKey: string;
  readonly isPresenceEnabled: boolean;
  readonly changes: readonly ChangeRequest[];
  /** Whether the reply waits until the change subscriptions are active. */
  readonly isChangesWait: boolean;
  readonly token: string | null;
}

/** Parses the payload of `phx_join`. Returns `null` when it is malformed. */
export function parseJoinRequest(payload: unknown): JoinRequest | null {
  const parsed = joinPayload.safeParse(payload ?? {});
  if (!parsed.success) return null;
  const { config, access_token, user_token } = parsed.data;
  const replay = config?.broadcast?.replay;
  return {
    isPrivate: config?.private ?? false,
    isAcknowledged: config?.broadcast?.ack ?? false,
    isSelfReceiver: config?.broadcast?.self ?? false,
    wantsReplicationReady: config?.broadcast?.replication_ready ?? false,
    replay: replay === undefined ? null : { sinceMs: replay.since, limit: replay.limit },
    presenceKey: String(config?.presence?.key || crypto.randomUUID()),
    isPresenceEnabled: config?.presence?.enabled ?? true,
    changes: config?.postgres_changes?.filter(isPresent) ?? [],
    isChangesWait: config?.postgres_changes_options?.wait ?? false,
    token: user_token ?? access_token ?? null,
  };
}

const broadcastPush = z.looseObject({
  event: z.string(),
  payload: z.custom<JsonValue | Uint8Array>().optional(),
});

/** Parses the payload of a `broadcast` push. Returns `null` when it is malformed. */
export function parseBroadcastPush(
  payload: unknown,
): { event: string; payload: JsonValue | Uint8Array } | null {
  const parsed = broadcastPush.safeParse(payload);
  return parsed.success ? { event: parsed.data.event, payload: parsed.data.payload ?? {} } : null;
}

const presencePush = z.looseObject({
  event: z.string().transform((event) => event.toLowerCase()).pipe(z.enum(["track", "untrack"])),
  payload: z.record(z.string(), z.custom<JsonValue>()).default({}),
});

/** Parses the payload of a `presence` push. Returns `null` when it is malformed. */
export function parsePresencePush(payload: unknown): z.infer<typeof presencePush> | null {
  return presencePush.safeParse(payload).data ?? null;
}

const tokenPush = z.looseObject({ access_token: z.string() });

/** Parses the payload of an `access_token` push. Returns `null` when it has no token. */
export function parseTokenPush(payload: unknown): string | null {
  return tokenPush.safeParse(payload).data?.access_token ?? null;
}

function isPresent(change: ChangeRequest | null): change is ChangeRequest {
  return change !== null;
}

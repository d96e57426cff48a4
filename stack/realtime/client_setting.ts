import type { Identity } from "./identity.ts";

/** The identity and settings with which the database runs a check. */
export interface ClientSetting {
  readonly identity: Identity;
  /** The topic that `realtime.topic()` returns, without `realtime:`. */
  readonly topic?: string;
  /** Headers of the client's handshake that policies may read. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Encodes the setting as JSON for the platform's SQL functions. */
export function toClientJson({ identity, topic, headers }: ClientSetting): string {
  const { role, claims } = identity;
  return JSON.stringify({ role, claims, topic, headers });
}

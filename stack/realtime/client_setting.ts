import type { Identity } from "./identity.ts";

/** As whom, and in which setting, the database answers a question. */
export interface ClientSetting {
  readonly identity: Identity;
  /** The topic that `realtime.topic()` answers, without `realtime:`. */
  readonly topic?: string;
  /** Headers of the client's handshake that policies may read. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The setting as the platform's functions take it, in JSON. */
export function toClientJson({ identity, topic, headers }: ClientSetting): string {
  const { role, claims } = identity;
  return JSON.stringify({ role, claims, topic, headers });
}

import { createHash } from "node:crypto";

/** Half of the cache time of the key set; a revoked key stays valid for this long. */
const LONGEST_MS = 300_000;
const MAX_TOKENS = 1_000;

interface Entry<Caller> {
  readonly caller: Caller;
  readonly endsAtMs: number;
}

/**
 * Cache of recently verified tokens. Verifying a signature is the most expensive part of
 * authentication, and a client sends the same token with each request.
 */
export class VerifiedTokens<Caller> {
  /** By the digest of the header: tokens themselves are not stored. */
  readonly #entries = new Map<string, Entry<Caller>>();

  /** Null if the header was not verified recently, or its token has expired. */
  find(authorization: string, nowMs: number): Caller | null {
    const entry = this.#entries.get(digestOf(authorization));
    return entry === undefined || entry.endsAtMs <= nowMs ? null : entry.caller;
  }

  /** @param expiresAtSeconds The token's `exp`; without one it is not remembered. */
  add(authorization: string, caller: Caller, expiresAtSeconds: unknown, nowMs: number): void {
    if (typeof expiresAtSeconds !== "number") return;
    const endsAtMs = Math.min(expiresAtSeconds * 1_000, nowMs + LONGEST_MS);
    this.#entries.set(digestOf(authorization), { caller, endsAtMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_TOKENS && oldest !== undefined) this.#entries.delete(oldest);
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

import { createHash } from "node:crypto";

/** Half of what the set of keys itself is remembered for; a key that is withdrawn counts so long. */
const LONGEST_MS = 300_000;
const MAX_TOKENS = 1_000;

interface Entry<Caller> {
  readonly caller: Caller;
  readonly endsAtMs: number;
}

/**
 * Whose tokens were verified lately. Verifying a signature costs more than all else that is done to
 * find out who calls, and a client sends the same token with each request.
 */
export class VerifiedTokens<Caller> {
  /** By the digest of the header: tokens themselves are kept nowhere. */
  readonly #entries = new Map<string, Entry<Caller>>();

  /** Null when the header was not verified lately, or its token has ended. */
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

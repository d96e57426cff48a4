import type { Bytes } from "../../../platform/values/bytes.ts";
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/**
 * The bytes of an `X-Hub-Signature-256` header, or null when it is missing or malformed.
 */
export function parseSignature(header: string | null): Bytes | null {
  const hex = SIGNATURE.exec(header ?? "")?.[1];
  if (hex === undefined) return null;
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/**
 * Whether `signature` is the HMAC-SHA-256 of a body's bytes. The comparison is WebCrypto's, which
 * runs in constant time.
 */
export async function isSignedWith(
  secret: string,
  body: Bytes,
  signature: Bytes,
): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  return await crypto.subtle.verify("HMAC", key, signature, body);
}

/** The signed parts of a message. */
export interface SignedMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`, in seconds since the epoch. */
  readonly timestampSeconds: number;
  /** Exactly as it is sent. */
  readonly body: string;
}

const SECRET_PREFIX = "whsec_";

/**
 * The header `webhook-signature` of a message, as defined by Standard Webhooks: for each secret
 * `v1,` and the HMAC-SHA256 of id, timestamp and body in base64, separated by spaces.
 *
 * @param secrets As `whsec_` and base64; two during a rotation.
 */
export async function signMessage(
  { id, timestampSeconds, body }: SignedMessage,
  secrets: readonly string[],
): Promise<string> {
  const signed = new TextEncoder().encode(`${id}.${timestampSeconds}.${body}`);
  const signatures = await Promise.all(secrets.map(async (secret) => {
    const key = await crypto.subtle.importKey(
      "raw",
      fromBase64(secret.slice(SECRET_PREFIX.length)),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)))}`;
  }));
  return signatures.join(" ");
}

function fromBase64(text: string) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

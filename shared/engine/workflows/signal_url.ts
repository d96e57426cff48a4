import { SwarmError } from "../../platform/errors/swarm_error.ts";

/** What a signal URL is for. */
export interface SignalTarget {
  readonly taskId: string;
  readonly name: string;
  /** The key of its signal: another one of the same URL changes nothing. */
  readonly key: string;
}

const HMAC = { name: "HMAC", hash: "SHA-256" };

/** The token of a URL that sends one signal: its target and their HMAC-SHA-256, in base64url. */
export async function signTarget(target: SignalTarget, secret: string): Promise<string> {
  const payload = encode(new TextEncoder().encode(JSON.stringify(target)));
  const signature = await crypto.subtle.sign(HMAC.name, await keyOf(secret), bytesOf(payload));
  return `${payload}.${encode(new Uint8Array(signature))}`;
}

/** @throws SIGNAL_URL_INVALID */
export async function targetOf(token: string, secret: string): Promise<SignalTarget> {
  const [payload = "", signature = ""] = token.split(".");
  const key = await keyOf(secret);
  // WebCrypto compares in constant time.
  const isSigned = await crypto.subtle.verify(HMAC.name, key, decode(signature), bytesOf(payload));
  if (!isSigned) {
    throw new SwarmError("SIGNAL_URL_INVALID", "Cannot send the signal: the URL is not valid");
  }
  return JSON.parse(new TextDecoder().decode(decode(payload))) as SignalTarget;
}

function keyOf(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytesOf(secret), HMAC, false, ["sign", "verify"]);
}

function bytesOf(text: string) {
  return new TextEncoder().encode(text);
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Nothing for a text that is not base64url: its signature is wrong. */
function decode(text: string): Uint8Array<ArrayBuffer> {
  try {
    const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

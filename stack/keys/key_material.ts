import { z } from "../../shared/vendor/zod.js";
import { loadJose } from "../deps.ts";

const API_KEY_RANDOM_BYTES = 16;
const JWT_SECRET_BYTES = 48;

/** The secrets of one stack, as stored on disk. */
export const keyMaterialSchema = z.object({
  publishableKey: z.string().startsWith("sb_publishable_"),
  secretKey: z.string().startsWith("sb_secret_"),
  /** Signs the HS256 tokens between the gateway and the service behind it. */
  jwtSecret: z.string().min(32),
  /** The private ES256 key, as a JWK with a `kid`. */
  signingKey: z.object({
    kty: z.literal("EC"),
    crv: z.literal("P-256"),
    kid: z.string().min(1),
    x: z.string(),
    y: z.string(),
    d: z.string(),
  }),
});

/** The secrets of one stack. */
export type KeyMaterial = z.infer<typeof keyMaterialSchema>;

/** Creates a new set of keys in the formats of a hosted project. */
export async function createKeyMaterial(): Promise<KeyMaterial> {
  return {
    publishableKey: await createApiKey("sb_publishable_"),
    secretKey: await createApiKey("sb_secret_"),
    jwtSecret: randomText(JWT_SECRET_BYTES),
    signingKey: await createSigningKey(),
  };
}

/** Creates `<prefix><22 random characters>_<8 characters of a checksum>`. */
async function createApiKey(prefix: string): Promise<string> {
  const random = randomText(API_KEY_RANDOM_BYTES);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(prefix + random));
  return `${prefix}${random}_${toUrlText(new Uint8Array(digest)).slice(0, 8)}`;
}

async function createSigningKey(): Promise<KeyMaterial["signingKey"]> {
  const jose = await loadJose();
  const { privateKey } = await jose.generateKeyPair("ES256", { extractable: true });
  const jwk = await jose.exportJWK(privateKey);
  return keyMaterialSchema.shape.signingKey.parse({ ...jwk, kid: crypto.randomUUID() });
}

function randomText(bytes: number): string {
  return toUrlText(crypto.getRandomValues(new Uint8Array(bytes)));
}

function toUrlText(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

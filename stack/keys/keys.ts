import type { JsonObject } from "../../shared/platform/values/json.ts";
import { loadJose } from "../deps.ts";
import { ensureKeyFile } from "./key_file.ts";
import { createKeyMaterial, type KeyMaterial } from "./key_material.ts";
import { parseUserClaims, type UserClaims } from "./user_claims.ts";

export type { UserClaims } from "./user_claims.ts";

const ALGORITHM = "ES256";
/** Tokens that are not verified again with every request. */
const MAX_VERIFIED_TOKENS = 1_000;

/** The keys of a running stack, and the functions that use them. */
export interface StackKeys {
  /** Identifies a client. Without a user's token it acts as role `anon`. */
  readonly publishableKey: string;
  /** Acts as role `service_role`. */
  readonly secretKey: string;
  /** Signs tokens between the gateway and the service behind it. It never leaves the process. */
  readonly jwtSecret: string;
  /** The public half of the signing key, as served under `/auth/v1/.well-known/jwks.json`. */
  readonly jwks: { readonly keys: readonly JsonObject[] };
  /** Signs an access token. The claims must include issuer and expiry. */
  signUserToken(claims: UserClaims): Promise<string>;
  /** Returns the claims of an unexpired token that this stack signed, otherwise `null`. */
  verifyUserToken(token: string): Promise<UserClaims | null>;
}

/**
 * Opens the stack's keys, and creates them on first use.
 *
 * @param dataDir Folder of the key file. `null` keeps the keys in memory only.
 * @throws SwarmError CONFIG_INVALID when the key file is damaged.
 */
export async function ensureKeys(dataDir: string | null): Promise<StackKeys> {
  return await openKeys(
    dataDir === null ? await createKeyMaterial() : await ensureKeyFile(dataDir),
  );
}

async function openKeys(material: KeyMaterial): Promise<StackKeys> {
  const jose = await loadJose();
  const { kid, kty, crv, x, y } = material.signingKey;
  const publicJwk = { kty, crv, x, y, kid, alg: ALGORITHM, use: "sig", key_ops: ["verify"] };
  const privateKey = await jose.importJWK(material.signingKey, ALGORITHM);
  const publicKey = await jose.importJWK(publicJwk, ALGORITHM);
  const verified = new Map<string, UserClaims>();
  return {
    publishableKey: material.publishableKey,
    secretKey: material.secretKey,
    jwtSecret: material.jwtSecret,
    jwks: { keys: [publicJwk] },
    signUserToken: async (claims) =>
      await new jose.SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid, typ: "JWT" })
        .sign(privateKey),
    verifyUserToken: async (token) => {
      const known = verified.get(token);
      if (known !== undefined && Number(known.exp) * 1_000 > Date.now()) return known;
      try {
        const options = { algorithms: [ALGORITHM], requiredClaims: ["exp"] };
        const claims = parseUserClaims((await jose.jwtVerify(token, publicKey, options)).payload);
        // A signature takes as long to verify as the rest of a request.
        if (verified.size === MAX_VERIFIED_TOKENS) verified.clear();
        if (claims !== null) verified.set(token, claims);
        return claims;
      } catch (error) {
        if (error instanceof jose.errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

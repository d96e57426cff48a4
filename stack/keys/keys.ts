import type { JsonObject } from "../../shared/json.ts";
import { loadJose } from "../deps.ts";
import { ensureKeyFile } from "./key_file.ts";
import { createKeyMaterial, type KeyMaterial } from "./key_material.ts";
import { parseUserClaims, type UserClaims } from "./user_claims.ts";

export type { UserClaims } from "./user_claims.ts";

const ALGORITHM = "ES256";

/** The keys of a running stack and what is done with them. */
export interface StackKeys {
  /** Names a client; on its own it acts as role `anon`. */
  readonly publishableKey: string;
  /** Acts as role `service_role`. */
  readonly secretKey: string;
  /** Signs tokens between the gateway and the service behind it; never leaves the process. */
  readonly jwtSecret: string;
  /** The public half of the signing key, as served under `/auth/v1/.well-known/jwks.json`. */
  readonly jwks: { readonly keys: readonly JsonObject[] };
  /** Signs an access token; the claims say issuer and expiry. */
  signUserToken(claims: UserClaims): Promise<string>;
  /** The claims of a token that this stack signed and that has not expired, otherwise `null`. */
  verifyUserToken(token: string): Promise<UserClaims | null>;
}

/**
 * The stack's keys, which are made on first use.
 *
 * @param dataDir Where they are kept; `null` keeps them in memory only.
 * @throws SwarmError CONFIG_INVALID when the kept file is damaged.
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
  return {
    publishableKey: material.publishableKey,
    secretKey: material.secretKey,
    jwtSecret: material.jwtSecret,
    jwks: { keys: [publicJwk] },
    signUserToken: async (claims) =>
      await new jose.SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid, typ: "JWT" })
        .sign(privateKey),
    verifyUserToken: async (token) => {
      try {
        const options = { algorithms: [ALGORITHM], requiredClaims: ["exp"] };
        return parseUserClaims((await jose.jwtVerify(token, publicKey, options)).payload);
      } catch (error) {
        if (error instanceof jose.errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

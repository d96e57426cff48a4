import { loadJose } from "../deps.ts";
import type { StackKeys, UserClaims } from "../keys/keys.ts";
import { parseUserClaims } from "../keys/user_claims.ts";

const ALGORITHM = "HS256";

/** Signs and reads the tokens of the service behind the gateway. They never leave the process. */
export interface InternalTokens {
  sign(claims: UserClaims): Promise<string>;
  /** Returns the claims of a token that the service issued, otherwise `null`. */
  read(token: string): Promise<UserClaims | null>;
  /** Whether the service signed the token, of any kind, and it has not expired. */
  isValid(token: string): Promise<boolean>;
}

/** Opens the internal tokens of a stack. */
export async function openInternalTokens(keys: StackKeys): Promise<InternalTokens> {
  const jose = await loadJose();
  const secret = new TextEncoder().encode(keys.jwtSecret);
  const verify = async (token: string) => {
    try {
      return (await jose.jwtVerify(token, secret, { algorithms: [ALGORITHM] })).payload;
    } catch (error) {
      if (error instanceof jose.errors.JOSEError) return null;
      throw error;
    }
  };
  return {
    sign: async (claims) =>
      await new jose.SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
        .sign(secret),
    read: async (token) => parseUserClaims(await verify(token)),
    isValid: async (token) => await verify(token) !== null,
  };
}

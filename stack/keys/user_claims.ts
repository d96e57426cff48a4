import { z } from "../../shared/vendor/zod.js";
import type { JsonObject } from "../../shared/platform/values/json.ts";

/** The claims of a user's access token, as Supabase Auth writes them. */
export type UserClaims = JsonObject & {
  /** The user's id in `auth.users`. */
  readonly sub: string;
  /** The database role that requests run as. */
  readonly role: string;
};

const userClaimsSchema = z.looseObject({
  sub: z.uuid(),
  role: z.string().min(1),
}).and(z.record(z.string(), z.json()));

/** Parses a verified token's payload. Returns `null` when a required claim is missing. */
export function parseUserClaims(payload: unknown): UserClaims | null {
  const parsed = userClaimsSchema.safeParse(payload);
  return parsed.success ? parsed.data : null;
}

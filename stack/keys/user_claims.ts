import { z } from "../../shared/vendor/zod.js";
import type { JsonObject } from "../../shared/json.ts";

/** What Supabase Auth puts into a user's access token. */
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

/** Reads a verified token's payload; `null` when it lacks what a user's token must have. */
export function parseUserClaims(payload: unknown): UserClaims | null {
  const parsed = userClaimsSchema.safeParse(payload);
  return parsed.success ? parsed.data : null;
}

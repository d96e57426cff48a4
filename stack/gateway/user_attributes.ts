import { z } from "../../shared/vendor/zod.js";

const SECONDS_BY_UNIT: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

const metadataSchema = z.record(z.string(), z.json());

/** Parses a Go duration such as `1h30m` to seconds. `none` lifts a ban. */
const banSchema = z.string().regex(/^(none|(\d+(\.\d+)?(h|m|s))+)$/).transform((text) =>
  text === "none" ? null : goDurationSeconds(text)
);

/** User attributes that an administrator may set (`auth.admin.createUser`, `updateUserById`). */
export const userAttributesSchema = z.object({
  id: z.uuid().optional(),
  email: z.email().toLowerCase().optional(),
  phone: z.string().min(1).optional(),
  // Bcrypt uses at most 72 bytes.
  password: z.string().min(6).max(72).optional(),
  password_hash: z.string().startsWith("$2").optional(),
  email_confirm: z.boolean().optional(),
  phone_confirm: z.boolean().optional(),
  role: z.string().min(1).optional(),
  app_metadata: metadataSchema.optional(),
  user_metadata: metadataSchema.optional(),
  ban_duration: banSchema.optional(),
}).transform(({ ban_duration, ...attributes }) => ({
  ...attributes,
  /** Seconds from now; null lifts the ban. */
  ban_seconds: ban_duration,
}));

/** Validated attributes. Undefined ones stay unchanged. */
export type UserAttributes = z.infer<typeof userAttributesSchema>;

function goDurationSeconds(text: string): number {
  return [...text.matchAll(/(\d+(?:\.\d+)?)([hms])/g)].reduce(
    (sum, [, amount, unit = "s"]) => sum + Number(amount) * (SECONDS_BY_UNIT[unit] ?? 0),
    0,
  );
}

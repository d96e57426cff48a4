import type { Config } from "../../../shared/platform/config/env.ts";

const URL_OF_NOBODY = "http://127.0.0.1:9";

/** The configuration of everything in a chaos run: no endpoint of the platform exists. */
export const CHAOS_CONFIG: Pick<Config, "apiKeys" | "allowLoopback" | "publicUrl"> = {
  apiKeys: {
    url: URL_OF_NOBODY,
    publishableKeys: {},
    secretKeys: { default: "sb_secret_of_the_chaos_run" },
    jwks: new URL(URL_OF_NOBODY),
  },
  publicUrl: URL_OF_NOBODY,
  allowLoopback: true,
};

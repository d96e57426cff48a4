// deno-lint-ignore-file explicit-module-boundary-types -- a loader has the type of its package
/**
 * Pins every third-party package that the stack uses, in one place. Each loader imports its package
 * when it is called.
 */

export const loadJose = () => import("npm:jose@6.2.17");
export const loadKysely = () => import("npm:kysely@0.28.18");
export const loadPglite = () => import("npm:@electric-sql/pglite@0.5.14");
export const loadPgliteSocket = () => import("npm:@electric-sql/pglite-socket@0.2.17");
export const loadPglitePgcrypto = () => import("npm:@electric-sql/pglite@0.5.14/contrib/pgcrypto");
export const loadPglitePgtap = () => import("npm:@electric-sql/pglite-pgtap@0.0.15");
export const loadPglitePgvector = () => import("npm:@electric-sql/pglite-pgvector@0.0.15");
export const loadPgliteUuidOssp = () => import("npm:@electric-sql/pglite@0.5.14/contrib/uuid_ossp");
export const loadToml = () => import("npm:smol-toml@1.9.1");
export const loadSupabaseLite = () => import("npm:@supabase/lite@0.10.0");
export const loadSupabaseLitePostgres = () => import("npm:@supabase/lite@0.10.0/postgres");

export type {
  Extension as PgliteExtension,
  PGlite as Pglite,
} from "npm:@electric-sql/pglite@0.5.14";

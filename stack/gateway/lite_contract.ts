import type { loadSupabaseLitePostgres } from "../deps.ts";

type LitePostgres = Awaited<ReturnType<typeof loadSupabaseLitePostgres>>;

/** A connection of the REST, Auth and Storage service to Postgres. */
export type LiteConnection = InstanceType<LitePostgres["PostgresConnection"]>;

/** The service's plan of a REST request. */
export type RestPlan = Parameters<LiteConnection["onPostgrestAST"]>[0];

/** A database's schema, as the service reads it. */
export type LiteSchema = Awaited<ReturnType<LiteConnection["introspect"]>>;

import type { SupabaseLike } from "./supabase.ts";

/** The names under which a project has the platform. */
export interface InstalledNames {
  /** The schema that `supaswarm init` chose. @default public */
  readonly schema?: string;
  /** Edge functions that have another name in the project, by the platform's name. */
  readonly functions?: Readonly<Record<string, string>>;
}

/** The part of a client that reads one schema. */
type SchemaClient = Pick<SupabaseLike, "rpc" | "from">;

/** A client that uses the project's names. */
export function withInstalledNames(
  supabase: SupabaseLike,
  { schema, functions = {} }: InstalledNames,
): SupabaseLike {
  // The default schema of the client may be any; without a name it is used.
  const tables = schema === undefined ? supabase : supabase.schema(schema) as SchemaClient;
  const renamed = (path: string) => path.replace(/^[^/?]+/, (name) => functions[name] ?? name);
  return {
    auth: supabase.auth,
    storage: supabase.storage,
    realtime: supabase.realtime,
    functions: {
      invoke: (path, options) => supabase.functions.invoke(renamed(path), options),
    },
    schema: (name) => supabase.schema(name),
    rpc: (name, args) => tables.rpc(name, args),
    from: (table) => tables.from(table),
    channel: (topic, options) => supabase.channel(topic, options),
    getChannels: () => supabase.getChannels(),
    removeChannel: (channel) => supabase.removeChannel(channel),
  };
}

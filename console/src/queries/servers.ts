// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import { callFunction } from "../project/call_function.ts";
import { isSignedIn } from "../project/session.ts";

const MINUTE_MS = 60_000;

/** Providers and models from which the caller of a tool can choose. */
export interface ModelOptions {
  readonly providers: readonly string[] | null;
  readonly default_provider: string | null;
  readonly models: readonly string[] | null;
  readonly default_model: string | null;
}

/** A tool in the list of all servers. */
export interface BriefTool {
  readonly name: string;
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  readonly model_options: ModelOptions | null;
}

/** A tool server with tools that the user may use. */
export interface Server {
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly status: string;
  readonly tools: readonly BriefTool[];
  readonly listing_error?: { readonly code: string; readonly message: string };
}

/** A JSON Schema of unknown form. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** A tool with everything that a call needs. */
export interface Tool extends BriefTool {
  readonly inputSchema: Schema;
  readonly outputSchema?: Schema;
  readonly annotations?: {
    readonly title?: string;
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  readonly scopes: readonly string[];
  readonly missing_scopes: readonly string[];
  /** Arguments that worked before, newest last. */
  readonly successful_parameters: readonly unknown[];
  /** True if the parameters are only the shape of what worked for other users. */
  readonly is_shape: boolean;
  readonly success_count: number;
  readonly last_successful_call: string | null;
  readonly last_updated: string | null;
}

/** A definition that waits for an operator's approval. */
export interface QuarantinedTool {
  readonly name: string;
  readonly reason: string;
  readonly definition_hash: string;
  readonly difference: Readonly<
    Record<string, { readonly approved?: unknown; readonly current?: unknown }>
  >;
}

/** One server with its tools and its state. */
export interface ServerDetail {
  readonly server: Omit<Server, "tools">;
  readonly instructions: string | null;
  readonly connection: {
    readonly id: string | null;
    readonly status: string;
    readonly failure_count: number;
    readonly last_success_at: string | null;
    readonly retry_at: string | null;
    readonly tools_listed_at: string | null;
  };
  readonly tools: readonly Tool[];
  readonly dropped: readonly { readonly name: string; readonly reason: string }[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly listing_error?: { readonly code: string; readonly message: string };
}

/** The tool servers with tools that the user may use. */
export function useServers() {
  return useQuery({
    queryKey: ["servers"],
    queryFn: async ({ signal }) =>
      (await callFunction<{ servers: Server[] }>("mcp-execute", { signal })).servers,
    enabled: computed(() => isSignedIn.value),
    staleTime: MINUTE_MS,
  });
}

/** One server, reloaded while it is visible. */
export function useServer(slug: Ref<string | null>) {
  return useQuery({
    queryKey: computed(() => ["server", slug.value]),
    queryFn: ({ signal }) => readServer(slug.value ?? "", signal),
    enabled: computed(() => isSignedIn.value && slug.value !== null),
    staleTime: MINUTE_MS,
  });
}

/** Reads one server's tools; `refresh` asks the server again. */
export async function readServer(
  slug: string,
  signal?: AbortSignal,
  refresh = false,
): Promise<ServerDetail> {
  return await callFunction<ServerDetail>("mcp-execute", {
    query: { server: slug, ...(refresh ? { refresh: "true" } : {}) },
    signal,
  });
}

/** Providers and models from which the caller of a tool can choose; null where there is no choice. */
export interface ModelOptions {
  readonly providers: readonly string[] | null;
  readonly default_provider: string | null;
  readonly models: readonly string[] | null;
  readonly default_model: string | null;
}

/** A tool in a list. */
export interface ListedTool {
  readonly name: string;
  readonly version?: string;
  /** What to use instead. */
  readonly deprecated?: string;
  readonly title?: string;
  readonly description?: string;
  readonly model_options: ModelOptions | null;
}

/** A JSON Schema. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** A tool with everything that a call needs. */
export interface DescribedTool extends ListedTool {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
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
  /** True if they are only the shape of what worked for other users. */
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

/** Why the tools of a server could not be listed. */
export interface ListingError {
  readonly code: string;
  readonly message: string;
}

interface ServerSummary {
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly status: string;
}

/** A server with the tools that the user may call. */
export interface ToolServer extends ServerSummary {
  readonly tools: readonly ListedTool[];
  readonly listing_error?: ListingError;
}

/** One server with all its tools and the state of its connection. */
export interface DescribedServer {
  readonly server: ServerSummary;
  readonly instructions: string | null;
  readonly connection: {
    readonly id: string | null;
    readonly status: string;
    readonly failure_count: number;
    readonly last_success_at: string | null;
    readonly retry_at: string | null;
    readonly tools_listed_at: string | null;
  };
  readonly tools: readonly DescribedTool[];
  /** Tools with an invalid definition. */
  readonly dropped: readonly { readonly name: string; readonly reason: string }[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly listing_error?: ListingError;
}

import type { JsonObject } from "../../platform/values/json.ts";
import type { CachedForms } from "../../models/tool_schemas/cached_forms.ts";
import type { UnavailableTool } from "./agent_tool.ts";
import type { ConnectionState } from "./connection_state.ts";
import type { ToolCaller } from "./tool_caller.ts";
import type { ToolDefinition } from "./tool_definition.ts";
import type { ToolDraft } from "./tool_draft.ts";
import type {
  CachedTool,
  CallRecord,
  LearnedParameters,
  RegisteredServer,
  RelayRecord,
  ResolvedCredential,
  ServerListing,
  UsableServer,
} from "./tool_records.ts";
import type { DroppedTool } from "./tool_server.ts";

/** A tool for the cache. */
export interface ToolToStore {
  readonly definition: ToolDefinition;
  /** Null if they are stored already; see `preparedHashes`. */
  readonly forms: CachedForms | null;
  /** See `definitionHash`. */
  readonly hash: string;
  /** For a tool of an internal server. */
  readonly scopes: readonly string[];
}

/** A server's complete list for the cache. */
export interface ListingToStore {
  readonly tools: readonly ToolToStore[];
  readonly dropped: readonly DroppedTool[];
  /** An external server, whose definitions must be approved. */
  readonly isRemote: boolean;
  /** Tools that appear after the first list wait for their approval. */
  readonly holdsNew: boolean;
  /** Its operator trusts all of its definitions. */
  readonly isTrusted: boolean;
}

/** A server of an agent. */
export interface AgentServer {
  readonly server: RegisteredServer;
  /** True if its tools should be listed (again). */
  readonly isDue: boolean;
}

/** Which tool is called and by whom. */
export interface CallKey {
  readonly server: string;
  readonly toolName: string;
  readonly caller: ToolCaller;
  /** The position of the call in the task's transcript. @default null, not in a task */
  readonly stepSeq?: number | null;
  /** Counts the call against its rate limit. */
  readonly isCharged: boolean;
  /** Of the server's list; see `is_due`. @default any age */
  readonly maxAgeSeconds?: number;
}

/** The draft of a server that is tried, and by whom. */
export interface TryKey extends Pick<CallKey, "server" | "caller"> {
  readonly draft: ToolDraft;
  /** Null if its tools are only listed. */
  readonly toolName: string | null;
}

/** The tool call and user that secrets are read for. */
export interface CredentialUse {
  readonly toolId: string;
  /** Null for the service. */
  readonly userId: string | null;
  /** True if an agent calls on the user's behalf. */
  readonly isAgent: boolean;
}

/** The source of secrets. */
export interface SecretSource {
  /** The user's own secret, otherwise the tool's. @throws SECRET_NOT_FOUND, CREDENTIAL_REQUIRED */
  resolveCredential(use: CredentialUse): Promise<ResolvedCredential>;
  /** By name. @throws SECRET_NOT_FOUND, CREDENTIAL_REQUIRED */
  resolveNamedSecrets(
    names: readonly string[],
    use: CredentialUse,
  ): Promise<Readonly<Record<string, string>>>;
}

/** Registry, connections, cache and ledger. Every method throws `SwarmError`. */
export interface ToolStore extends SecretSource {
  agentServers(caller: ToolCaller, maxAgeSeconds: number): Promise<readonly AgentServer[]>;
  agentTools(caller: ToolCaller): Promise<CachedTool[]>;
  /** The active servers, or only the named one; null scopes mean every scope. */
  usableServers(
    caller: ToolCaller,
    server: string | null,
  ): Promise<{ server: UsableServer; scopes: readonly string[] | null }[]>;
  serverListing(
    toolId: string,
    userId: string | null,
    maxAgeSeconds: number,
  ): Promise<ServerListing>;
  /**
   * Counts a listing that a user requests.
   *
   * @throws SwarmError `QUOTA_EXCEEDED`
   */
  takeListRefresh(userId: string | null): Promise<void>;
  /** Null if the connection is not the user's and the caller is not the service. */
  connectionServer(connectionId: string, caller: ToolCaller): Promise<string | null>;
  /** Counts the request against the rate limit of the server's policy. */
  beginRelay(toolId: string, userId: string | null): Promise<RelayRecord>;
  /**
   * Reads everything that a call needs, counts the call against its rate limit, and creates the
   * caller's connection if there is none.
   *
   * @returns Null if no such server is registered and active.
   */
  beginCall(call: CallKey): Promise<CallRecord | null>;
  /**
   * Reads everything that a call of a draft needs, as if the draft were saved, and records who tries
   * what. Nothing of the draft is stored.
   *
   * @throws SwarmError `INSUFFICIENT_SCOPE`, `AGENT_NOT_ALLOWED`, `QUOTA_EXCEEDED`, and what saving
   * the draft would raise.
   */
  beginTry(key: TryKey): Promise<CallRecord>;
  recordConnectionState(connectionId: string, state: ConnectionState): Promise<void>;
  /**
   * True for the one caller that may list the server's tools; it must store or fail the listing.
   */
  beginListing(connectionId: string): Promise<boolean>;
  /** Renews the claim of `beginListing`; without it, the claim expires after four seconds. */
  continueListing(connectionId: string): Promise<void>;
  /** Releases the claim without recording an outcome. */
  endListing(connectionId: string): Promise<void>;
  failListing(connectionId: string, error: JsonObject, isUnreachable: boolean): Promise<void>;
  /** Records in the task's trace, once, which servers could not be reached. */
  reportAbsent(taskId: string, servers: readonly UnavailableTool[]): Promise<void>;
  /** The hashes of the connection's definitions whose forms are stored. */
  preparedHashes(connectionId: string): Promise<readonly string[]>;
  /** Stores the forms of a part of the list that is being prepared. */
  prepareTools(connectionId: string, tools: readonly ToolToStore[]): Promise<void>;
  recordTools(connectionId: string, listing: ListingToStore): Promise<void>;
  /** True for the one call that may try a server with a half-open circuit breaker. */
  beginProbe(connectionId: string): Promise<boolean>;
  /**
   * The known-good parameters of a tool, as its connection's user may see them; null for an unknown
   * tool.
   */
  learnedParameters(connectionId: string, toolName: string): Promise<LearnedParameters | null>;
  /** @returns The tool's number of consecutive failures. */
  recordExecution(execution: JsonObject): Promise<number>;
}

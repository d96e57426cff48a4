import type { JsonObject } from "../json.ts";
import type { CachedForms } from "../tool_schemas/cached_forms.ts";
import type { UnavailableTool } from "./agent_tool.ts";
import type { ConnectionState } from "./connection_state.ts";
import type { ToolCaller } from "./tool_caller.ts";
import type { ToolDefinition } from "./tool_definition.ts";
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

/** A tool as the cache takes it. */
export interface ToolToStore {
  readonly definition: ToolDefinition;
  readonly forms: CachedForms;
  /** See `definitionHash`. */
  readonly hash: string;
  /** Of a tool of an internal server. */
  readonly scopes: readonly string[];
}

/** A server's whole list as the cache takes it. */
export interface ListingToStore {
  readonly tools: readonly ToolToStore[];
  readonly dropped: readonly DroppedTool[];
  /** Somebody else's server, whose definitions have to be approved. */
  readonly isRemote: boolean;
  /** Tools that appear after the first list wait for their approval. */
  readonly holdsNew: boolean;
  /** Its operator lets all its definitions pass. */
  readonly isTrusted: boolean;
}

/** A server of an agent. */
export interface AgentServer {
  readonly server: RegisteredServer;
  /** It should be asked for its tools (again). */
  readonly isDue: boolean;
}

/** Which tool is called and by whom. */
export interface CallKey {
  readonly server: string;
  readonly toolName: string;
  readonly caller: ToolCaller;
  /** Takes the call out of its rate limit. */
  readonly isCharged: boolean;
  /** Of the server's list; see `is_due`. @default any age */
  readonly maxAgeSeconds?: number;
}

/** For whose call of which tool secrets are wanted. */
export interface CredentialUse {
  readonly toolId: string;
  /** Null: the service's. */
  readonly userId: string | null;
  /** An agent makes it on the user's behalf. */
  readonly isAgent: boolean;
}

/** Where secrets come from. */
export interface SecretSource {
  /** The user's own, else the tool's. @throws SECRET_NOT_FOUND, CREDENTIAL_REQUIRED */
  resolveCredential(use: CredentialUse): Promise<ResolvedCredential>;
  /** By name. @throws SECRET_NOT_FOUND, CREDENTIAL_REQUIRED */
  resolveNamedSecrets(
    names: readonly string[],
    use: CredentialUse,
  ): Promise<Readonly<Record<string, string>>>;
}

/** Registry, connections, cache and ledger. Every method throws `SwarmError`. */
export interface ToolStore extends SecretSource {
  agentServers(
    agentId: string,
    userId: string | null,
    maxAgeSeconds: number,
  ): Promise<readonly AgentServer[]>;
  agentTools(agentId: string, userId: string | null): Promise<CachedTool[]>;
  /** The active servers, or that one; scopes null: every scope. */
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
   * Counts a list that a user asks for anew.
   *
   * @throws SwarmError `QUOTA_EXCEEDED`
   */
  takeListRefresh(userId: string | null): Promise<void>;
  /** Null when the connection is neither the user's nor the caller a service. */
  connectionServer(connectionId: string, caller: ToolCaller): Promise<string | null>;
  /** Takes the request out of the rate limit of the server's policy. */
  beginRelay(toolId: string, userId: string | null): Promise<RelayRecord>;
  /**
   * Reads all that a call needs, and takes the call out of its rate limit; makes the caller's
   * connection where there is none.
   *
   * @returns Null when no such server is registered and active.
   */
  beginCall(call: CallKey): Promise<CallRecord | null>;
  saveConnectionState(connectionId: string, state: ConnectionState): Promise<void>;
  /** True for the one who may ask the server for its tools; it has to store or fail the listing. */
  beginListing(connectionId: string): Promise<boolean>;
  /** Keeps what `beginListing` took; without it, it is free again after four seconds. */
  continueListing(connectionId: string): Promise<void>;
  /** Gives the turn back without a word on what came of it. */
  endListing(connectionId: string): Promise<void>;
  failListing(connectionId: string, error: JsonObject, isUnreachable: boolean): Promise<void>;
  /** Tells the task's trace, once, which servers could not be asked. */
  reportAbsent(taskId: string, servers: readonly UnavailableTool[]): Promise<void>;
  storeTools(connectionId: string, listing: ListingToStore): Promise<void>;
  /** True for the one call that may try a server whose breaker is half open. */
  beginProbe(connectionId: string): Promise<boolean>;
  /** What worked before with a tool, as a connection's user may see it; null for no such tool. */
  learnedParameters(connectionId: string, toolName: string): Promise<LearnedParameters | null>;
  /** @returns How often the tool has now failed in a row. */
  recordExecution(execution: JsonObject): Promise<number>;
}

import type { JsonObject, JsonValue } from "../../platform/values/json.ts";
import { DATA_FLOWS, type DataFlow } from "./data_flow.ts";

/** Internal servers that return data only some users may read. */
const PRIVATE_SERVERS: ReadonlySet<string> = new Set(["quoth", "supabase"]);
const PRIVATE: readonly DataFlow[] = ["reads_private"];
/** Data of the user, which an agent may have written from text that it read outside. */
const PRIVATE_OF_ANYONE: readonly DataFlow[] = ["reads_private", "reads_outside"];
/** Tools of `catalog` that return what its user has stored. */
const CATALOG_FLOWS: ReadonlyMap<string, readonly DataFlow[]> = new Map([
  ["export_conversation", PRIVATE_OF_ANYONE],
  ["get_ruleset", PRIVATE],
  ["list_messages", PRIVATE_OF_ANYONE],
]);

/** What a server declares about one of its tools. */
interface HintedTool {
  readonly name: string;
  readonly annotations?: {
    readonly readOnlyHint?: boolean | undefined;
    readonly openWorldHint?: boolean | undefined;
  } | undefined;
}

/** A tool and its row in the registry. */
export interface FlowingTool {
  /** `tools.slug` and `tools.type`. */
  readonly server: string;
  readonly type: string;
  readonly definition: HintedTool;
  /** `tools.data_flows`: the operator's declaration, by tool name or `*`. */
  readonly stated: JsonObject | null;
}

/**
 * The data flows of a tool: those the operator declares for it or its whole server, otherwise those
 * implied by its kind. A server's hints count only if the operator trusts them.
 */
export function dataFlowsOf({ server, type, definition, stated }: FlowingTool): DataFlow[] {
  const own = statedFor(definition.name, stated) ?? statedFor("*", stated);
  if (own !== undefined) return flowsIn(own);
  switch (type) {
    case "internal":
      return [...internalFlows(server, definition)];
    case "supabase_rpc":
      return [...PRIVATE];
    default:
      return sendsOutside(definition) ? ["reads_outside", "sends_outside"] : ["reads_outside"];
  }
}

function internalFlows(server: string, definition: HintedTool): readonly DataFlow[] {
  switch (server) {
    case "swarm":
      return readsJobs(definition) ? PRIVATE_OF_ANYONE : [];
    case "catalog":
      return CATALOG_FLOWS.get(definition.name) ?? [];
    default:
      return PRIVATE_SERVERS.has(server) ? PRIVATE : [];
  }
}

/** The operator's declaration. Own properties only: a server may name a tool `constructor`. */
function statedFor(name: string, stated: JsonObject | null): JsonValue | undefined {
  return stated !== null && Object.hasOwn(stated, name) ? stated[name] : undefined;
}

/** Whether a tool of `swarm` returns data of the owner's other jobs, which may be private. */
function readsJobs({ name, annotations }: HintedTool): boolean {
  return annotations?.readOnlyHint === true && name !== "list_agents";
}

/** A read-only tool with an open-world hint sends its arguments to third parties. */
function sendsOutside({ annotations }: HintedTool): boolean {
  return annotations?.readOnlyHint !== true || annotations.openWorldHint === true;
}

/** The flows in a stored value. */
export function flowsIn(value: JsonValue | undefined): DataFlow[] {
  return Array.isArray(value) ? DATA_FLOWS.filter((flow) => value.includes(flow)) : [];
}

import type { JsonObject, JsonValue } from "../json.ts";
import { DATA_FLOWS, type DataFlow } from "../tool_contracts/data_flow.ts";

/** Internal servers that answer with what only some may read. */
const PRIVATE_SERVERS: ReadonlySet<string> = new Set(["quoth", "supabase"]);

/** What its server says of a tool. */
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
  /** `tools.data_flows`: what the operator says, by tool name or `*`. */
  readonly stated: JsonObject | null;
}

/**
 * The flows of a tool: what the operator states for it or for its whole server, else what its kind
 * implies. Hints of a server count only where its operator trusts them.
 */
export function dataFlowsOf({ server, type, definition, stated }: FlowingTool): DataFlow[] {
  const own = statedFor(definition.name, stated) ?? statedFor("*", stated);
  if (own !== undefined) return flowsIn(own);
  switch (type) {
    case "internal":
      if (server === "swarm" && readsJobs(definition)) return ["reads_private", "reads_outside"];
      return PRIVATE_SERVERS.has(server) ? ["reads_private"] : [];
    case "supabase_rpc":
      return ["reads_private"];
    default:
      return sendsOutside(definition) ? ["reads_outside", "sends_outside"] : ["reads_outside"];
  }
}

/** What the operator says; a server may name a tool like a property that every object has. */
function statedFor(name: string, stated: JsonObject | null): JsonValue | undefined {
  return stated !== null && Object.hasOwn(stated, name) ? stated[name] : undefined;
}

/** Whether a tool of `swarm` answers with what other jobs of the owner hold, whatever they read. */
function readsJobs({ name, annotations }: HintedTool): boolean {
  return annotations?.readOnlyHint === true && name !== "list_agents";
}

/** A reader whose server says that it goes on to others sends them what it is asked. */
function sendsOutside({ annotations }: HintedTool): boolean {
  return annotations?.readOnlyHint !== true || annotations.openWorldHint === true;
}

/** The flows that a stored value names. */
export function flowsIn(value: JsonValue | undefined): DataFlow[] {
  return Array.isArray(value) ? DATA_FLOWS.filter((flow) => value.includes(flow)) : [];
}

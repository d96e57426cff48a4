import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { CallTarget, ToolCallOutcome, ToolCallRequest } from "../tool_contracts/tool_call.ts";
import type { DraftTools } from "../tool_contracts/tool_gateway.ts";
import type { CallRecord } from "../tool_contracts/tool_records.ts";
import type { ToolDraft } from "../tool_contracts/tool_draft.ts";
import type { ToolStore, TryKey } from "../tool_contracts/tool_store.ts";
import { findByName } from "../tool_contracts/tool_versions.ts";
import { assertPolicyAllows } from "./call_policy.ts";
import { callTool } from "./call_tool.ts";
import { openToolServer, type ToolServerPorts } from "./kinds/open_tool_server.ts";
import { LISTING_TIMEOUT, type ReadTools, readTools } from "./listing/refresh_tools.ts";

/**
 * Calls a tool of a draft through all stages of a call, as if the draft were saved.
 *
 * @throws SwarmError like `callTool()`, and what saving the draft would raise.
 */
export async function tryDraft(
  draft: ToolDraft,
  request: ToolCallRequest,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<ToolCallOutcome> {
  const startedAtMs = performance.now();
  const { server, toolName, caller } = request;
  const opened = await openDraft({ draft, server, toolName, caller }, ports, signal);
  return await callTool(request, opened.ports, signal, { record: opened.record, startedAtMs });
}

/** The tools of a draft, from its server now. @throws SwarmError like {@linkcode tryDraft} */
export async function listDraft(
  draft: ToolDraft,
  target: Omit<CallTarget, "toolName">,
  ports: ToolServerPorts,
  signal: AbortSignal,
): Promise<DraftTools> {
  const { read } = await openDraft({ ...target, draft, toolName: null }, ports, signal);
  return { tools: read.tools.map(({ definition }) => definition), dropped: read.dropped };
}

interface OpenedDraft {
  /** What a call needs, with the listed definition in place of the cached one. */
  readonly record: CallRecord;
  readonly read: ReadTools;
  readonly ports: ToolServerPorts;
}

async function openDraft(
  key: TryKey,
  { store, ...others }: ToolServerPorts,
  signal: AbortSignal,
): Promise<OpenedDraft> {
  const ports = { ...others, store: storeOfTries(store) };
  const record = await store.beginTry(key);
  assertPolicyAllows(record, key.toolName ?? "");
  const { user_id: userId, secrets } = record;
  const options = { userId, caller: key.caller, secrets, ...LISTING_TIMEOUT };
  const read = await readTools(record, await openToolServer(record, options, ports), ports, signal);
  const named = read.tools.map((tool) => ({ ...tool.definition, tool }));
  const found = findByName(key.toolName ?? "", named)?.tool;
  return {
    ports,
    read,
    record: {
      ...record,
      // The list is complete: a missing tool is unknown.
      tools_listed_at: new Date().toISOString(),
      tool_names: named.map(({ name }) => name),
      cached: found === undefined ? null : {
        name: found.definition.name,
        version: found.definition.version ?? null,
        schema: { ...found.definition },
        hash: found.hash,
        // As those of the first list of a saved server.
        state: "approved",
        held: null,
      },
    },
  };
}

/** A store in which a try leaves its row of the ledger and nothing else. */
function storeOfTries(store: ToolStore): ToolStore {
  return {
    ...store,
    // The draft has no row; a saved tool of its name has nothing to do with this call.
    recordExecution: (execution) =>
      store.recordExecution({ ...execution, is_try: true, tool_id: null, connection_id: null }),
    recordConnectionState: () => Promise.resolve(),
    beginListing: () =>
      Promise.reject(new SwarmError("INTERNAL", "The tools of a draft are not listed again")),
  };
}

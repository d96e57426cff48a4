import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { ToolDefinition } from "../tool_contracts/tool_definition.ts";
import { scopesOf } from "../tool_contracts/tool_scopes.ts";
import { onlyDeclared } from "../../models/tool_schemas/only_declared.ts";
import { assertInputFits, assertMayCall } from "./call_policy.ts";
import { type AdmittedCall, endedUnsent, type LookedUpCall, type Staged } from "./call_stages.ts";
import { assertDefinitionApproved, findTool } from "./find_definition.ts";
import { describeProblems, findArgumentProblems } from "./learning/argument_problems.ts";
import { definitionHash } from "./listing/definition_pin.ts";
import { renewListing } from "./listing/renew_listing.ts";
import { beginCall, FIRST_LIST_WAIT_MS } from "./look_up_call.ts";

/**
 * Admits a call or ends it: checks the agent's grant, scopes, policy, rate limit and size, the
 * approval of the definition, and the arguments. Lists the server's tools first if there is no
 * list.
 */
export async function admitCall(lookedUp: LookedUpCall): Promise<Staged<AdmittedCall>> {
  let call = lookedUp;
  try {
    call = await withFirstList(call);
    const { request, ports } = call;
    const found = await findTool(call.record, request.toolName, ports);
    const { definition, scopes, isCacheOutdated, isOlder } = found;
    const needed = scopesOf(call.record.tool, scopes);
    assertMayCall(call.record, request.toolName, needed);
    assertInputFits(call.record, request);
    if (isCacheOutdated) {
      // The code was redeployed, or the caller is new: learning and the rate limit need the row in
      // the cache.
      call = await withNewList(call);
      assertMayCall(call.record, request.toolName, needed);
    }
    if (isOlder) call = asOlderVersion(call, definition);
    assertDefinitionApproved(call.record);
    assertArgumentsFit(request.arguments, definition);
    const { declared, notice } = withoutUndeclared(request.arguments, definition);
    if (notice !== null && call.record.approval?.approved_arguments) {
      throw unfitArguments(definition, `$: were approved ${notice}`);
    }
    const sent = { ...request, arguments: declared };
    return { kind: "next", call: { ...call, request: sent, definition, scopes: needed, notice } };
  } catch (error) {
    return endedUnsent(isUnknownTool(error) ? asUnknownTool(call) : call, error);
  }
}

type Arguments = LookedUpCall["request"]["arguments"];

async function withFirstList(call: LookedUpCall): Promise<LookedUpCall> {
  const { record, request, ports, signal, caller } = call;
  if (record.tools_listed_at !== null || record.tool.type === "internal") return call;
  // For a server that never listed its tools, only the server itself can be refused.
  assertMayCall(record, request.toolName, scopesOf(record.tool, []));
  const wait = { waitMs: FIRST_LIST_WAIT_MS, signal };
  const renewal = await renewListing(record, caller.userId, ports, wait);
  if (renewal.kind === "failed") throw renewal.error;
  return await beginCall(call, record.cached === null);
}

async function withNewList(call: LookedUpCall): Promise<LookedUpCall> {
  const { record, request: { server }, ports, signal, caller } = call;
  const wait = { waitMs: FIRST_LIST_WAIT_MS, signal };
  const renewal = await renewListing(record, caller.userId, ports, wait);
  if (renewal.kind === "failed") {
    ports.log("warn", "tool.cache_outdated", { server, code: renewal.error.code });
  }
  return await beginCall(call, record.cached === null);
}

/**
 * A call of an uncached version: it is recorded as that version, and nothing is learned from it.
 */
function asOlderVersion(call: LookedUpCall, definition: ToolDefinition): LookedUpCall {
  const { name, version = null } = definition;
  const cached = {
    name,
    version,
    schema: { ...definition },
    hash: definitionHash(definition),
    state: "approved",
    held: null,
  } as const;
  return { ...call, record: { ...call.record, cached }, isOlderVersion: true };
}

function isUnknownTool(error: unknown): boolean {
  return error instanceof SwarmError && error.code === "TOOL_NOT_FOUND";
}

/** A missing version must not be recorded as the existing one. */
function asUnknownTool(call: LookedUpCall): LookedUpCall {
  return { ...call, record: { ...call.record, cached: null } };
}

/** Arguments that may not match are rejected here instead of by the server. */
function assertArgumentsFit(args: Arguments, definition: ToolDefinition): void {
  const problems = findArgumentProblems(definition.inputSchema, args);
  if (problems.length > 0) throw unfitArguments(definition, describeProblems(problems));
}

/** The declared arguments, and a notice about the others; null if there are none. */
function withoutUndeclared(
  args: Arguments,
  definition: ToolDefinition,
): { readonly declared: Arguments; readonly notice: string | null } {
  try {
    const { arguments: declared, dropped, droppedCount } = onlyDeclared(
      args,
      definition.inputSchema,
    );
    if (droppedCount === 0) return { declared: args, notice: null };
    const others = droppedCount - dropped.length;
    const named = [...dropped, ...(others === 0 ? [] : [`${others} more`])].join(", ");
    const notice = `(not sent, because '${definition.name}' does not declare it: ${named})`;
    return { declared, notice };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw unfitArguments(definition, `$: the arguments cannot be checked: ${error.message}`);
  }
}

function unfitArguments({ name }: ToolDefinition, problems: string): SwarmError {
  return new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    `Cannot call '${name}': the arguments do not match its schema\n${problems}`,
  );
}

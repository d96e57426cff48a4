import { z } from "../../../../vendor/zod.js";
import { answerInTime } from "../../../../platform/db/answer_in_time.ts";
import { CLOSED_SETS } from "../../../../platform/db/closed_sets.ts";
import type { Sql } from "../../../../platform/db/sql_client.ts";
import { toSwarmError } from "../../../../platform/db/to_swarm_error.ts";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import type { ErrorCode } from "../../../../platform/errors/codes.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type {
  CallModel,
  ModelCallResult,
  ModelUsageRecord,
} from "../../../../models/llm/call_model.ts";
import type { Logger } from "../../../../platform/log/logger.ts";
import type { ToolCaller } from "../../../tool_contracts/tool_caller.ts";
import type { ToolModelAnswer, ToolModelCall } from "../../../tool_contracts/tool_model.ts";
import type { ModelUse } from "../../../tool_contracts/tool_server.ts";

/** The tool call inside which a model is called. */
export interface ToolModelScope {
  readonly sql: Sql;
  readonly callModel: CallModel;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** `tools.slug`. */
  readonly server: string;
  /** Null for a resource or a prompt. */
  readonly toolName: string | null;
  readonly toolVersion: string | null;
  readonly caller: ToolCaller;
  readonly executionId: string;
  readonly stepSeq: number | null;
  /** When the tool call's own time is over, by `performance.now()`. */
  readonly endsAtMs: number;
  readonly onModelUse: (use: ModelUse) => void;
}

/** Time that a tool reserves to report that the model did not answer. */
const ANSWER_MS = 1_000;

const beginningSchema = z.object({
  candidates: z.array(z.object({
    provider: z.object({
      id: z.string(),
      name: z.string(),
      api: z.enum(CLOSED_SETS.llm_providers.api),
      base_url: z.string().nullable(),
      default_model: z.string(),
    }),
    model: z.string(),
  })).min(1),
  agent_slug: z.string().nullable(),
});

type Beginning = z.infer<typeof beginningSchema>;

/** Calls a model inside a tool; see {@linkcode CallToolModel}. */
export async function callToolModel(
  call: ToolModelCall,
  scope: ToolModelScope,
): Promise<ToolModelAnswer> {
  const beginning = await beginCall(call, scope);
  scope.signal.throwIfAborted();
  const { answer, usage } = await askInTime(call, beginning, scope);
  const provider = providerOf(usage, beginning);
  await book(usage, provider, beginning, scope);
  if (answer.finish_reason === "refused") {
    throw new SwarmError("MODEL_REFUSED", `The model ${usage.model} refused to answer`, {
      hint: "Change the request.",
    });
  }
  if (answer.finish_reason === "length") throw cutAnswer(usage.model, answer.cut_at_tokens);
  return {
    text: answer.text,
    provider,
    model: usage.model,
    keySource: usage.key_source,
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    passedOver: (usage.passed_over ?? []).map(({ provider, code }) => ({ provider, code })),
  };
}

function cutAnswer(model: string, tokens: number | undefined): SwarmError {
  const limit = tokens === undefined ? "its output limit" : `its output limit of ${tokens} tokens`;
  return new SwarmError(
    "MODEL_OUTPUT_CUT",
    `Cannot use the answer of the model ${model}: it was cut at ${limit}`,
    { hint: "Try again, ask for less, or name another model." },
  );
}

async function beginCall(call: ToolModelCall, scope: ToolModelScope): Promise<Beginning> {
  const { sql, server, toolName, caller } = scope;
  const row = {
    mcp_name: server,
    tool_name: toolName,
    provider: call.provider ?? null,
    model: call.model ?? null,
    task_id: caller.taskId,
    agent_id: caller.agentId,
  };
  try {
    const [begun] = await answerInTime(sql`
      select private.begin_model_call(${sql.json(row)}) as beginning`);
    return beginningSchema.parse(begun?.beginning);
  } catch (error) {
    throw toSwarmError(error, "call the model");
  }
}

function providerOf(usage: ModelUsageRecord, { candidates }: Beginning): string {
  const found = candidates.find(({ provider: { id } }) => id === usage.provider_id);
  return (found ?? candidates[0])?.provider.name ?? "";
}

async function askInTime(
  call: ToolModelCall,
  beginning: Beginning,
  scope: ToolModelScope,
): Promise<ModelCallResult> {
  const { candidates: [first, ...others] } = beginning;
  const { callModel, caller, signal, endsAtMs } = scope;
  let cut: ModelUsageRecord | undefined;
  const leftMs = endsAtMs - performance.now();
  const timeoutMs = Math.max(
    1,
    Math.min(call.timeoutMs ?? Infinity, leftMs - Math.min(ANSWER_MS, leftMs / 10)),
  );
  const timeout = AbortSignal.timeout(timeoutMs);
  const { system, messages, output } = call;
  try {
    return await callModel({
      provider: first?.provider ?? null,
      fallbacks: others,
      isPassable: (error) => isPassable(error, call.provider !== undefined),
      settings: {
        model: first?.model ?? null,
        temperature: call.temperature ?? null,
        max_tokens: call.maxOutputTokens ?? null,
      },
      userId: caller.userId,
      taskId: caller.taskId,
      prompt: { system, messages, tools: [], ...definedOnly({ output }) },
      ...definedOnly({ onDelta: call.onDelta, onFallback: call.onFallback }),
      onCut: (usage) => {
        cut = usage;
      },
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    // A caller that disconnects during an answer must still pay for it.
    if (cut !== undefined) await book(cut, providerOf(cut, beginning), beginning, scope);
    if (!timeout.aborted || signal.aborted) throw error;
    const seconds = Math.round(timeoutMs / 1_000);
    throw new SwarmError("MODEL_TIMEOUT", `Cannot call the model: no answer within ${seconds} s`, {
      cause: error,
      hint: "Try again later, use a faster model, or raise the tool's timeout_ms.",
    });
  }
}

/** Failures that may not affect the next provider. */
const PROVIDERS_OWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "MODEL_UNAVAILABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "MODEL_AUTH_FAILED",
  "MODEL_NOT_FOUND",
  "MODEL_REQUEST_INVALID",
  "MODEL_OUTPUT_INVALID",
]);

/**
 * A caller that names a provider does not get another one because of a missing key or permission.
 */
const NOT_FOR_THIS_CALLER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "MODEL_KEY_MISSING",
  "MODEL_POLICY_DENIED",
]);

function isPassable({ code }: SwarmError, isNamed: boolean): boolean {
  return PROVIDERS_OWN.has(code) || !isNamed && NOT_FOR_THIS_CALLER.has(code);
}

/**
 * Books immediately, so that the next call of the same tool and its siblings see the spending. If
 * that fails, the usage is booked with the tool's call.
 */
async function book(
  { passed_over: _, ...usage }: ModelUsageRecord,
  provider: string,
  { agent_slug }: Beginning,
  { sql, log, server, toolName, toolVersion, caller, executionId, stepSeq, onModelUse }:
    ToolModelScope,
): Promise<void> {
  let isBooked = true;
  try {
    const row = {
      ...usage,
      user_id: caller.userId,
      task_id: caller.taskId,
      step_seq: stepSeq,
      agent_slug,
      execution_id: executionId,
      mcp_name: server,
      tool_name: toolName,
      tool_version: toolVersion,
    };
    await answerInTime(sql`select private.record_usage(${sql.json(row)})`);
  } catch (error) {
    isBooked = false;
    log("warn", "tool.usage_not_booked", { execution_id: executionId, error: String(error) });
  }
  onModelUse({
    provider,
    model: usage.model,
    keySource: usage.key_source,
    inputTokens: usage.input_tokens,
    cachedInputTokens: usage.cached_input_tokens,
    outputTokens: usage.output_tokens,
    isBooked,
  });
}

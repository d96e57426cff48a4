import type { Prompt } from "../agent/build_prompt.ts";
import type { TaskContext } from "../agent/task_context.ts";
import type { ModelCallResult } from "../../models/llm/call_model.ts";
import type { Logger } from "../../platform/log/logger.ts";
import type { Telemetry } from "../../platform/telemetry/telemetry.ts";
import type { ToolGateway } from "../../gateway/tool_contracts/tool_gateway.ts";
import type { FilePorts } from "./attach_files.ts";
import type { ArtifactStorage } from "./artifact_storage.ts";
import type { Clock } from "../../platform/isolate/clock.ts";
import type { TaskStore } from "./task_store.ts";

/** A model call on behalf of a task. */
export interface TaskModelCall {
  readonly context: TaskContext;
  readonly prompt: Prompt;
  /** The agent's limit on the output is not its own: a model with a lower one keeps to that. */
  readonly hasOptionalLimit: boolean;
  /** Whether the answer streams. A complete answer costs a fraction of the CPU. */
  readonly stream: boolean;
  /** Receives text as it streams in; never called for an answer that does not stream. */
  readonly onDelta: (text: string) => void;
  /** Milliseconds until a stream is read again. */
  readonly streamPauseMs: () => number;
  /** Called when another provider is used: discard the streamed text. */
  readonly onFallback: () => void;
  readonly signal: AbortSignal;
}

/**
 * Calls the model of a task's agent.
 *
 * @throws MODEL_KEY_MISSING, PROVIDER_NOT_FOUND, MODEL_POLICY_DENIED and the codes of a
 * `ModelAdapter`; the reason of an aborted signal.
 */
export type CallTaskModel = (call: TaskModelCall) => Promise<ModelCallResult>;

/** The dependencies of running a task. */
export interface TaskPorts {
  readonly store: TaskStore;
  readonly callModel: CallTaskModel;
  readonly gateway: Pick<ToolGateway, "listAgentTools" | "call" | "relay">;
  readonly artifacts: ArtifactStorage;
  readonly describeFiles: FilePorts["describeFiles"];
  /** Bytes of tool definitions above which an agent searches. @default TOOL_SEARCH_BYTES */
  readonly toolSearchBytes?: number;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, "isOn" | "add">;
  readonly log: Logger;
}

import type { Telemetry } from "../../platform/telemetry/telemetry.ts";
import type { TaskContext } from "../agent/task_context.ts";
import { RecordedTaskTrace } from "./recorded_task_trace.ts";
import { type TaskTrace, untraced } from "./task_trace.ts";

/**
 * Opens the span of one worker's run of a task. Without telemetry, trace contexts are passed on
 * unchanged, as OpenTelemetry specifies.
 */
export function openRun(
  { isOn, add }: Pick<Telemetry, "isOn" | "add">,
  context: TaskContext,
  epoch: string,
): TaskTrace {
  return isOn ? new RecordedTaskTrace({ context, epoch, add }) : untraced(context.task);
}

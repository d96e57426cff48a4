import { computed, type ComputedRef, onUnmounted, type ShallowRef, shallowRef } from "vue";
import { showFailure } from "../app/toasts.ts";
import type { ToolResult } from "../results/tool_result.ts";
import { runTool, type ToolCall } from "./run_tool.ts";

/** The calls of a page, one at a time. */
export interface ToolRun {
  readonly last: ShallowRef<{ readonly result: ToolResult; readonly tookMs: number } | null>;
  readonly isRunning: ComputedRef<boolean>;
  /** Resolves to null if the call was cancelled or could not be made. */
  run(call: Omit<ToolCall, "signal">): Promise<ToolResult | null>;
  cancel(): void;
}

/** Runs tools until the page is left. */
export function useToolRun(): ToolRun {
  const last: ToolRun["last"] = shallowRef(null);
  const running = shallowRef<AbortController | null>(null);
  const cancel = () => running.value?.abort();
  onUnmounted(cancel);
  return {
    last,
    isRunning: computed(() => running.value !== null),
    cancel,
    async run(call) {
      const abort = running.value = new AbortController();
      try {
        last.value = await runTool({ ...call, signal: abort.signal });
        return last.value.result;
      } catch (error) {
        if (!abort.signal.aborted) showFailure(error);
        return null;
      } finally {
        running.value = null;
      }
    },
  };
}

import {
  computed,
  type ComputedRef,
  onUnmounted,
  type ShallowRef,
  shallowRef,
  watch,
  type WatchSource,
} from "vue";
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

/** Runs the chosen tool; its call ends when another one is chosen or the page is left. */
export function useToolRun(chosen: WatchSource<unknown>): ToolRun {
  const last: ToolRun["last"] = shallowRef(null);
  const running = shallowRef<AbortController | null>(null);
  const cancel = () => {
    running.value?.abort();
    running.value = null;
  };
  onUnmounted(cancel);
  watch(chosen, () => {
    cancel();
    last.value = null;
  });
  return {
    last,
    isRunning: computed(() => running.value !== null),
    cancel,
    async run(call) {
      const abort = running.value = new AbortController();
      try {
        const ran = await runTool({ ...call, signal: abort.signal });
        abort.signal.throwIfAborted();
        last.value = ran;
        return ran.result;
      } catch (error) {
        if (!abort.signal.aborted) showFailure(error);
        return null;
      } finally {
        if (running.value === abort) running.value = null;
      }
    },
  };
}

import { onUnmounted, readonly, type Ref, ref, shallowRef } from "vue";
import { useQueryClient } from "@tanstack/vue-query";
import type { Json } from "../../../../client/mod.ts";
import { showFailure } from "../../app/toasts.ts";
import { isOnline } from "../../project/connection.ts";
import { failureStreaks } from "../../results/failure_streak.ts";
import { factsOf, type ToolResult } from "../../results/tool_result.ts";
import { runTool } from "../../tools/run_tool.ts";

export const SQL_SERVER = "supabase";

/** What the page waits for; empty while it waits for nothing. */
export type SqlActivity = "" | "generating" | "running" | "exporting";

/** The arguments of `execute_sql` that a statement has. */
export type StatementArguments = Readonly<Record<string, Json>>;

/** The page's calls of tools: one action at a time, which can be cancelled. */
export interface SqlWork {
  readonly activity: Readonly<Ref<SqlActivity>>;
  /** The latest answer. */
  readonly outcome: Readonly<Ref<{ readonly result: ToolResult; readonly tookMs: number } | null>>;
  /** Set when several failures in a row ask for feedback. */
  readonly asking: Ref<{ readonly token: string; readonly count: number } | null>;
  /** Does nothing while another action runs or the project is unreachable. */
  start(activity: SqlActivity, action: () => Promise<void>): Promise<void>;
  call(toolName: string, given: StatementArguments): Promise<ToolResult>;
  cancel(): void;
}

export function useSqlWork(): SqlWork {
  const queries = useQueryClient();
  const activity = ref<SqlActivity>("");
  const running = shallowRef<AbortController | null>(null);
  const outcome = shallowRef<{ result: ToolResult; tookMs: number } | null>(null);
  const asking = ref<{ token: string; count: number } | null>(null);
  const cancel = () => running.value?.abort();
  onUnmounted(cancel);

  return {
    activity: readonly(activity),
    outcome,
    asking,
    cancel,
    async start(kind, action) {
      if (activity.value !== "" || !isOnline.value) return;
      activity.value = kind;
      const abort = running.value = new AbortController();
      try {
        await action();
      } catch (error) {
        if (!abort.signal.aborted) showFailure(error);
      } finally {
        activity.value = "";
        running.value = null;
        void queries.invalidateQueries({ queryKey: ["calls"] });
      }
    },
    async call(toolName, given) {
      const signal = running.value?.signal;
      const parameters = { ...given };
      const called = await runTool({ server: SQL_SERVER, toolName, parameters, signal });
      const { result } = called;
      outcome.value = called;
      const { errorCode, feedbackToken: token, consecutiveFailures: count } = factsOf(result);
      const isAsked = failureStreaks.note(`${SQL_SERVER}.${toolName}`, {
        isError: result.isError === true,
        errorCode,
      });
      if (isAsked && token !== null) asking.value = { token, count: Math.max(count, 3) };
      return result;
    },
  };
}

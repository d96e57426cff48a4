// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQuery, useQueryClient } from "@tanstack/vue-query";
import { computed, type Ref } from "vue";
import type { CLOSED_SETS } from "../../../shared/platform/db/closed_sets.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";
import { cancelForeignJob, retryForeignTask } from "./job_actions.ts";
import { filtersOf } from "./job_filters.ts";
import { readJobs } from "./jobs.ts";

/** Hidden pages send no requests: the query client pauses their intervals. */
const POLL_MS = 10_000;
const MAX_ROWS = 200;

/** Waiting and running tasks of one priority. */
export interface QueueLine {
  readonly priority: string;
  readonly waiting_count: number;
  readonly oldest_wait_seconds: number;
  readonly delayed_count: number;
  readonly running_count: number;
  readonly expired_lease_count: number;
  readonly waiting_for_subtasks_count: number;
  readonly waiting_for_review_count: number;
}

/** A running worker. */
export interface WorkerLine {
  readonly id: string;
  readonly started_at: string;
  readonly seen_at: string;
  readonly running_task_count: number;
}

/** A routine of cron that failed in the last week. */
export interface MaintenanceFailure {
  readonly routine: string;
  readonly failure_count: number;
  /** Null when the whole routine failed. */
  readonly last_row_id: string | null;
  readonly last_error_code: string;
  readonly last_error_message: string;
  readonly last_failed_at: string;
}

/** A task that waits longer than it should. */
export interface StuckTask {
  readonly task_id: string;
  readonly master_task_id: string;
  readonly owner_email: string | null;
  readonly agent_slug: string | null;
  readonly status: string;
  readonly reason: string;
  readonly since: string;
  readonly worker_id: string | null;
}

/** A task that ran out of attempts or deliveries. */
export interface DeadLetter {
  readonly id: number;
  readonly task_id: string;
  readonly master_task_id: string;
  readonly owner_email: string | null;
  readonly agent_slug: string | null;
  readonly reason: string;
  readonly error: { readonly code?: string; readonly message?: string } | null;
  readonly created_at: string;
  readonly retried_at: string | null;
}

/** The state of a registered tool for all users. */
export interface ServerLine {
  readonly tool_id: string;
  readonly slug: string;
  readonly type: string;
  readonly is_active: boolean;
  readonly connection_count: number;
  readonly failing_count: number;
  readonly waiting_definition_count: number;
  readonly last_success_at: string | null;
  readonly retry_at: string | null;
  readonly listing_error_code: string | null;
}

/** A tool definition that waits for an approval. */
export interface WaitingDefinition {
  readonly connection_id: string;
  readonly server: string;
  /** Empty for the instructions of the server. */
  readonly tool_name: string;
  readonly owner_email: string | null;
  readonly state: string;
  readonly definition_hash: string;
  readonly approved_definition: unknown;
  readonly waiting_definition: unknown;
}

/** A model in use that its provider may stop serving within 60 days. */
export interface RetiringModel {
  readonly provider: string;
  readonly model: string;
  /** A date, such as `2027-10-07`. */
  readonly retires_on: string;
  /** Such as `agent researcher`. */
  readonly used_by: readonly string[];
}

/** What must hold for the installation to work. */
export interface InstallationCheck {
  readonly claim: string;
  /** Null: it holds. */
  readonly problem: string | null;
  readonly remedy: string;
}

/** A release that was installed in the database. */
export interface InstalledRelease {
  readonly version: string;
  readonly installed_at: string;
}

/** An action of an operator, as operators see it. */
export interface RecordedAct {
  readonly id: number;
  readonly at: string;
  readonly operator_email: string | null;
  readonly act: string;
  readonly owner_email: string | null;
  readonly master_task_id: string | null;
  readonly tool_slug: string | null;
  readonly tool_name: string | null;
  readonly reason: string | null;
  /** Of a definition: which one. Of a key: its name. Of scopes: what they were and are. Of problems: which. */
  readonly details: {
    readonly kind?: string;
    readonly slug?: string;
    readonly name?: string;
    readonly before?: readonly string[];
    readonly after?: readonly string[];
    readonly problems?: readonly { readonly kind: string; readonly name: string }[];
  };
}

/** Failed jobs of one agent with one error code and cause. */
export interface FailureGroup {
  readonly agent_slug: string | null;
  readonly error_code: string | null;
  /** The message of the error, with `…` for ids and `#` for numbers. */
  readonly cause: string | null;
  readonly job_count: number;
  readonly last_failed_at: string;
  /** The number of failures by UTC day, such as `2026-11-27`. */
  readonly days: Readonly<Record<string, number>>;
}

/** An alert after its last check. */
export interface Alert {
  readonly name: string;
  readonly measure: (typeof CLOSED_SETS.alerts.measure)[number];
  readonly above: number;
  /** The window that is measured. */
  readonly minutes: number;
  readonly agent: string | null;
  /** Null: too little to measure. */
  readonly value: number | null;
  /** Null: it is not raised. */
  readonly raised_at: string | null;
  /** The first check of a raised alert that was not above; the next such check clears it. */
  readonly below_since: string | null;
  /** When it was last cleared; null while it is raised. */
  readonly cleared_at: string | null;
}

/** The jobs of all users in one interval. */
export interface ActivityLine {
  readonly began_at: string;
  readonly created_count: number;
  readonly completed_count: number;
  readonly failed_count: number;
  readonly cancelled_count: number;
  /** At the end of the interval. */
  readonly waiting_count: number;
  /** Null: no job called a model. */
  readonly first_call_p50_ms: number | null;
  readonly first_call_p95_ms: number | null;
}

/** Times that the activity can show; a longer one is read less often. */
export const ACTIVITY_SPANS = {
  hour: { hours: 1, seconds: 60, count: 60, pollMs: POLL_MS },
  day: { hours: 24, seconds: 1_800, count: 48, pollMs: 60_000 },
  week: { hours: 168, seconds: 10_800, count: 56, pollMs: 600_000 },
} as const;
export type ActivitySpan = keyof typeof ACTIVITY_SPANS;

/** What drives the platform. */
export interface Pulse {
  readonly last_tick_at: string | null;
  /** In the last hour, as the other counts of runs and requests. */
  readonly cron_run_count: number;
  readonly cron_failure_count: number;
  readonly last_cron_failure: string | null;
  readonly last_wake_at: string | null;
  readonly request_count: number;
  readonly request_failure_count: number;
  readonly last_request_failure: string | null;
  /** In the last minute. */
  readonly realtime_message_count: number;
  readonly realtime_messages_per_second: number;
  readonly database_bytes: number;
}

/** A table with its indexes and partitions. */
export interface TableSize {
  readonly name: string;
  readonly bytes: number;
  readonly row_estimate: number;
}

interface OperatorRows {
  operator_queue_health: QueueLine;
  operator_workers: WorkerLine;
  operator_installation_checks: InstallationCheck;
  operator_maintenance_failures: MaintenanceFailure;
  operator_releases: InstalledRelease;
  operator_stuck_tasks: StuckTask;
  operator_dead_letters: DeadLetter;
  operator_servers: ServerLine;
  operator_tool_definitions: WaitingDefinition;
  operator_retiring_models: RetiringModel;
  operator_acts: RecordedAct;
  operator_alerts: Alert;
  operator_pulse: Pulse;
  operator_table_sizes: TableSize;
}

/** The matching rows of one of the operator views; other users' requests are refused. */
export function useOperatorRows<View extends keyof OperatorRows>(
  view: View,
  wanted: Readonly<Record<string, boolean>> = {},
) {
  return useQuery({
    queryKey: ["operations", view, wanted],
    queryFn: async () =>
      // In the generated types of views every column is nullable.
      dataOf(
        await projectClient().from(view).select("*").match(wanted).limit(MAX_ROWS),
      ) as unknown as readonly OperatorRows[View][],
    refetchInterval: POLL_MS,
  });
}

/** What the list of all jobs shows of one job; null if it is a subtask or does not exist. */
export function useForeignJob(jobId: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["operations", "job", jobId.value]),
    queryFn: async () => {
      const [job] = await readJobs("all", filtersOf({ id: jobId.value }), { limit: 1 });
      return job ?? null;
    },
  });
}

/** The failed jobs of all users since a moment, grouped by agent, error code and cause. */
export function useFailureGroups(since: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ["operations", "failures", since.value]),
    queryFn: async () =>
      dataOf(
        await projectClient().rpc("operator_failure_groups", {
          p_filters: { created_from: since.value },
        }),
      ) as unknown as readonly FailureGroup[],
    refetchInterval: POLL_MS,
  });
}

/** The activity of the queue until now, oldest interval first. */
export function useActivity(span: Ref<ActivitySpan>) {
  return useQuery({
    queryKey: computed(() => ["operations", "activity", span.value]),
    queryFn: async () => {
      const { seconds, count } = ACTIVITY_SPANS[span.value];
      return dataOf(
        await projectClient().rpc("operator_activity", { p_seconds: seconds, p_count: count }),
      ) as unknown as readonly ActivityLine[];
    },
    refetchInterval: () => ACTIVITY_SPANS[span.value].pollMs,
  });
}

/** Opens another user's job for an hour; its owner reads the reason. */
export function useOpenJob() {
  return useMutation({
    mutationFn: async ({ taskId, reason }: { readonly taskId: string; readonly reason: string }) =>
      dataOf(
        await projectClient().rpc("operator_open_job", { p_task_id: taskId, p_reason: reason }),
      ),
  });
}

/** The actions of an operator; the database records each of them. */
export type Act =
  | { readonly kind: "cancel"; readonly jobId: string }
  | { readonly kind: "retry"; readonly taskId: string }
  | { readonly kind: "redrive"; readonly deadLetterId: number }
  | { readonly kind: "approve"; readonly definition: WaitingDefinition };

/** Performs the action, with the given reason. */
export function useOperatorAct() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ act, reason }: { readonly act: Act; readonly reason: string }) =>
      carryOut(act, reason.trim()),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["operations"] });
      void queries.invalidateQueries({ queryKey: ["job"] });
      void queries.invalidateQueries({ queryKey: ["jobs"] });
    },
  });
}

/** Resumes the task of a dead letter, which has as many attempts as a new one. @throws RequestError */
export async function redrive(deadLetterId: number, reason: string): Promise<unknown> {
  return dataOf(
    await projectClient().rpc("operator_redrive", {
      p_dead_letter_id: deadLetterId,
      p_reason: reason,
    }),
  );
}

async function carryOut(act: Act, reason: string): Promise<unknown> {
  const client = projectClient();
  switch (act.kind) {
    case "cancel":
      return await cancelForeignJob(act.jobId, reason);
    case "retry":
      return await retryForeignTask(act.taskId, reason);
    case "redrive":
      return await redrive(act.deadLetterId, reason);
    case "approve":
      return dataOf(
        await client.rpc("approve_tool_definition", {
          p_connection_id: act.definition.connection_id,
          p_tool_name: act.definition.tool_name,
          p_definition_hash: act.definition.definition_hash,
        }),
      );
  }
}

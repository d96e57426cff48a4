import type { Project } from "../../scripts/demo/user_client.ts";

/** Every operator view. */
export const OPERATOR_VIEWS = [
  "operator_acts",
  "operator_agent_revisions",
  "operator_alerts",
  "operator_budgets",
  "operator_configuration_problems",
  "operator_dead_letters",
  "operator_definitions",
  "operator_installation_checks",
  "operator_eval_runs",
  "operator_maintenance_failures",
  "operator_missing_scopes",
  "operator_pulse",
  "operator_queue_health",
  "operator_releases",
  "operator_retiring_models",
  "operator_row_starts",
  "operator_servers",
  "operator_stuck_tasks",
  "operator_table_sizes",
  "operator_tool_definitions",
  "operator_workers",
];
const NOTHING = "00000000-0000-4000-8000-000000000000";
/** Every operator function, with arguments that match nothing. */
const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  operator_open_job: { p_task_id: NOTHING, p_reason: "" },
  operator_cancel_job: { p_master_task_id: NOTHING, p_reason: "" },
  operator_retry_task: { p_task_id: NOTHING, p_reason: "" },
  operator_retry_row_starts: { p_trigger: "" },
  operator_redrive: { p_dead_letter_id: 0, p_reason: "" },
  operator_tasks: { p_task_id: NOTHING },
  operator_steps: { p_task_id: NOTHING },
  operator_calls: { p_task_id: NOTHING },
  operator_events: { p_task_id: NOTHING },
  operator_eval_results: { p_run_id: NOTHING },
  operator_acknowledge_problems: { p_problems: [{}], p_reason: "" },
  operator_list_jobs: {},
  operator_job_counts: {},
  operator_failure_groups: {},
  operator_activity: {},
  operator_usage_report: { p_by: "day" },
  approve_tool_definition: { p_connection_id: NOTHING, p_tool_name: "" },
};

/** Paths of all operator endpoints, with 403 for each: the result for other users. */
export const REFUSED_EVERYWHERE: Readonly<Record<string, number>> = Object.fromEntries(
  [...OPERATOR_VIEWS, ...Object.keys(FUNCTIONS).map((name) => `rpc/${name}`)]
    .map((path) => [path, 403]),
);

/** The status of each operator endpoint for the holder of a token, by path. */
export async function operatorStatuses(
  project: Project,
  accessToken: string,
): Promise<Record<string, number>> {
  const headers = {
    apikey: project.publishableKey,
    authorization: `Bearer ${accessToken}`,
    "content-type": "application/json",
  };
  const requests: Readonly<Record<string, RequestInit>> = {
    ...Object.fromEntries(OPERATOR_VIEWS.map((view) => [view, { headers }])),
    ...Object.fromEntries(
      Object.entries(FUNCTIONS).map(([name, args]) => [
        `rpc/${name}`,
        { method: "POST", headers, body: JSON.stringify(args) },
      ]),
    ),
  };
  const statuses: Record<string, number> = {};
  for (const [path, request] of Object.entries(requests)) {
    const response = await fetch(`${project.apiUrl}/rest/v1/${path}`, request);
    await response.body?.cancel();
    statuses[path] = response.status;
  }
  return statuses;
}

import { isEmptyPlan, type SyncPlan } from "./plan_sync.ts";

/** Formats a sync's result as one line of JSON. */
export function syncToJson(plan: SyncPlan, isDryRun: boolean): string {
  return JSON.stringify({
    dry_run: isDryRun,
    is_changed: !isEmptyPlan(plan),
    servers: plan.servers.map(({ slug, change, fields, agentCount }) => ({
      slug,
      change,
      changed_fields: fields,
      ...(change === "removed" ? { agents_without_it: agentCount } : {}),
    })),
    secrets: plan.secrets,
  });
}

/** Formats a sync's result as text. */
export function syncToText(plan: SyncPlan, isDryRun: boolean): string {
  const servers = plan.servers.map(({ slug, change, fields, agentCount, row }) => {
    const isNew = change === "added" || fields.includes("audience");
    const notes = [
      ...fields.filter((field) => field !== "audience"),
      ...(isNew && row?.audience === "everyone"
        ? [`grants mcp:${slug} to everyone who may run jobs`]
        : fields.includes("audience")
        ? [`withdraws mcp:${slug} from everyone without a grant`]
        : []),
      ...(agentCount > 0 ? [`${agentCount} agents lose it`] : []),
    ];
    return line(change.replace("_", " "), slug, notes);
  });
  const secrets = plan.secrets.map(({ name, variable, change }) => {
    const note = change === "kept"
      ? [`${variable} is not set`]
      : variable === null
      ? []
      : [variable];
    return line(change, name, note);
  });
  return [...servers, ...secrets, summary(plan, isDryRun)].join("\n");
}

function line(change: string, what: string, notes: readonly string[]): string {
  return `${change.padEnd(12)}  ${what}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

function summary(plan: SyncPlan, isDryRun: boolean): string {
  if (isEmptyPlan(plan)) return "The registry matches the file.";
  return isDryRun ? "Dry run: nothing was changed." : "The registry now matches the file.";
}

import type { DefinitionFile } from "../../shared/engine/definitions/definition.ts";
import { writeDefinitions } from "../../shared/engine/definitions/write_definitions.ts";
import type { WriteYaml } from "../../shared/engine/definitions/definition.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { toolSecrets } from "../../shared/engine/definitions/tool_secrets.ts";
import { isEmptyPlan } from "../mcps/plan_sync.ts";
import { syncToJson, syncToText } from "../mcps/report_sync.ts";
import type { DefinitionChange, PushPlan } from "./push_definitions.ts";
import type { FileWarning } from "./read_push_files.ts";
import { withHint } from "../../shared/platform/errors/with_hint.ts";

/** Shows how the text of a file changes, as a unified diff. */
export type DiffTexts = (path: string, before: string, after: string) => string;

/** True if a push changes nothing. */
export function isUnchanged({ changes, servers }: PushPlan): boolean {
  return changes.every(({ change }) => change === "unchanged" || change === "left") &&
    (servers === null || isEmptyPlan(servers));
}

/** Formats a push's result as one line of JSON. */
export function pushToJson(
  plan: PushPlan,
  isDryRun: boolean,
  warnings: readonly FileWarning[],
): string {
  return JSON.stringify({
    dry_run: isDryRun,
    is_changed: !isUnchanged(plan),
    changes: plan.changes,
    problems: plan.problems,
    warnings,
    ...plan.servers === null ? {} : { mcps: JSON.parse(syncToJson(plan.servers, isDryRun)) },
  });
}

/** Formats a push's result as text: each change with its diff, who is affected, and what is missing. */
export function pushToText(
  plan: PushPlan,
  isDryRun: boolean,
  { writeYaml, diff }: { readonly writeYaml: WriteYaml; readonly diff: DiffTexts },
): string {
  const lines = plan.changes.flatMap((change) => [
    `${change.change.padEnd(10)} ${change.kind} ${change.slug}${noteOf(change)}`,
    ...audienceLines(change),
    ...secretLines(change),
    ...affectedLines(change),
    ...change.change === "changed" ? diffLines(change, writeYaml, diff) : [],
  ]);
  const servers = plan.servers === null || isEmptyPlan(plan.servers)
    ? []
    : syncToText(plan.servers, isDryRun).split("\n").slice(0, -1);
  const problems = plan.problems.map(({ kind, name, field, problem, hint }) =>
    withHint(`warning    ${kind} ${name}: ${field} ${problem}`, hint)
  );
  return [...lines, ...servers, ...problems, summary(plan, isDryRun)].join("\n");
}

function noteOf({ change, fields, drift }: DefinitionChange): string {
  const notes = [
    ...change === "changed" ? [fields.join(", ")] : [],
    ...change === "left" ? ["no file defines it; --prune removes it"] : [],
    ...drift.length > 0 ? [`${drift.join(", ")} changed in the database since the last push`] : [],
  ];
  return notes.length === 0 ? "" : ` (${notes.join("; ")})`;
}

/** Who may use a tool from now on, or no longer. */
function audienceLines({ kind, slug, before = {}, after = {} }: DefinitionChange): string[] {
  const [was, is] = [before, after].map(({ audience }) => kind === "tool" && audience === EVERYONE);
  if (was === is) return [];
  const change = is
    ? `grants mcp:${slug} to everyone who may run jobs`
    : `withdraws mcp:${slug} from everyone without a grant`;
  return [`           ${change}`];
}

const EVERYONE = "everyone";

/** Which secrets a new tool sends to which host. */
function secretLines({ kind, change, after = {} }: DefinitionChange): string[] {
  const sent = kind === "tool" && change === "created" ? toolSecrets(after) : null;
  if (sent === null || sent.secrets.length === 0) return [];
  return [`           sends the secret ${sent.secrets.join(", ")} to ${sent.host}`];
}

function affectedLines({ change, affected }: DefinitionChange): string[] {
  if (change === "unchanged" || change === "left" || change === "gone") return [];
  const parts = [
    ...affected.agents.length > 0 ? [`agents: ${affected.agents.join(", ")}`] : [],
    ...affected.schedules > 0 ? [`schedules: ${affected.schedules}`] : [],
    ...affected.triggers > 0 ? [`row triggers: ${affected.triggers}`] : [],
    ...affected.unfinished_tasks > 0
      ? [`unfinished tasks, which keep their revision: ${affected.unfinished_tasks}`]
      : [],
  ];
  return parts.length === 0 ? [] : [`           affects ${parts.join("; ")}`];
}

/** The difference of the files, which people read, instead of that of the rows. */
function diffLines(
  { kind, slug, before = {}, after = {} }: DefinitionChange,
  writeYaml: WriteYaml,
  diff: DiffTexts,
): string[] {
  const filesOf = (definition: JsonObject) =>
    new Map(
      writeDefinitions([{ kind, slug, definition }], writeYaml).map((file) =>
        [file.path, textOf(file)] as const
      ),
    );
  const [old, current] = [filesOf(before), filesOf(after)];
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((path) => {
    const [from, to] = [old.get(path) ?? "", current.get(path) ?? ""];
    if (from === to) return [];
    return diff(path, from, to).trimEnd().split("\n").map((line) => `           ${line}`);
  });
}

function textOf({ bytes }: DefinitionFile): string {
  return new TextDecoder().decode(bytes);
}

function summary(plan: PushPlan, isDryRun: boolean): string {
  if (isUnchanged(plan)) return "The registry matches the files.";
  return isDryRun ? "Dry run: nothing was changed." : "The registry now matches the files.";
}

import type { DefinitionFile } from "../../shared/engine/definitions/definition.ts";
import { writeDefinitions } from "../../shared/engine/definitions/write_definitions.ts";
import type { WriteYaml } from "../../shared/engine/definitions/definition.ts";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import { isEmptyPlan } from "../mcps/plan_sync.ts";
import { syncToJson, syncToText } from "../mcps/report_sync.ts";
import type { DefinitionChange, PushPlan } from "./push_definitions.ts";

/** Shows how the text of a file changes, as a unified diff. */
export type DiffTexts = (path: string, before: string, after: string) => string;

/** True if a push changes nothing. */
export function isUnchanged({ changes, servers }: PushPlan): boolean {
  return changes.every(({ change }) => change === "unchanged" || change === "left") &&
    (servers === null || isEmptyPlan(servers));
}

/** Formats a push's result as one line of JSON. */
export function pushToJson(plan: PushPlan, isDryRun: boolean): string {
  return JSON.stringify({
    dry_run: isDryRun,
    is_changed: !isUnchanged(plan),
    changes: plan.changes,
    problems: plan.problems,
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
    ...affectedLines(change),
    ...change.change === "changed" ? diffLines(change, writeYaml, diff) : [],
  ]);
  const servers = plan.servers === null || isEmptyPlan(plan.servers)
    ? []
    : syncToText(plan.servers, isDryRun).split("\n").slice(0, -1);
  const problems = plan.problems.map(({ kind, name, field, problem, hint }) =>
    `warning    ${kind} ${name}: ${field} ${problem}. ${hint}`
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

function affectedLines({ change, affected }: DefinitionChange): string[] {
  if (change === "unchanged" || change === "left" || change === "gone") return [];
  const parts = [
    ...affected.agents.length > 0 ? [`agents: ${affected.agents.join(", ")}`] : [],
    ...affected.schedules > 0 ? [`schedules: ${affected.schedules}`] : [],
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

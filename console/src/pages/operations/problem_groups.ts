import type { ConfigurationProblem } from "../../queries/configuration_problems.ts";
import { formatCount } from "../../format/numbers.ts";

/** Problems with one cause, which one action repairs. */
export interface ProblemGroup {
  readonly key: string;
  readonly title: string;
  /** What is affected, such as `12 agents`. */
  readonly affected: string;
  /** What to do, if it is the same for all of them. */
  readonly hint: string | null;
  /** The scope that users lack; null for another cause. */
  readonly scope: string | null;
  readonly problems: readonly ConfigurationProblem[];
}

/** Groups problems by their cause, those that affect the most first. */
export function groupProblems(problems: readonly ConfigurationProblem[]): ProblemGroup[] {
  return [...Map.groupBy(problems, (one) => scopeOf(one) ?? one.problem)]
    .map(([key, list]) => groupOf(key, list))
    .sort((a, b) => b.problems.length - a.problems.length || a.title.localeCompare(b.title));
}

/** A field of an agent's tools names the tool whose scope is missing. */
function scopeOf({ kind, field }: ConfigurationProblem): string | null {
  return kind === "agent" && field.startsWith("tools.") ? `mcp:${field.slice(6)}` : null;
}

function groupOf(key: string, problems: readonly ConfigurationProblem[]): ProblemGroup {
  const [first] = problems;
  const scope = first === undefined ? null : scopeOf(first);
  const hints = new Set(problems.map(({ hint }) => hint));
  return {
    key,
    title: scope === null ? titleOf(problems) : `Users lack the scope ${scope}`,
    affected: affectedOf(problems),
    hint: hints.size === 1 ? [...hints][0] ?? null : null,
    scope,
    problems,
  };
}

function titleOf(problems: readonly ConfigurationProblem[]): string {
  const subjects = new Set(problems.map(({ kind, name, field }) => `${kind} ${name}: ${field}`));
  const fields = new Set(problems.map(({ field }) => field));
  const what = subjects.size === 1 ? [...subjects][0] : fields.size === 1 ? [...fields][0] : "";
  return `${what} ${problems[0]?.problem}`.trim();
}

/** The number of agents, tools and others, each counted once. */
function affectedOf(problems: readonly ConfigurationProblem[]): string {
  return [...Map.groupBy(problems, ({ kind }) => kind)].map(([kind, list]) => {
    const count = new Set(list.map(({ name }) => name)).size;
    return `${formatCount(count)} ${count === 1 ? kind : kind.replace(/y$/, "ie") + "s"}`;
  }).join(", ");
}

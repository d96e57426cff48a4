import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { type BenchResult, meets } from "./bench_result.ts";
import type { Machine } from "./machine.ts";
import { describeTarget } from "./print_result.ts";

/** A result with the time and machine of its measurement. */
export interface SavedResult extends BenchResult {
  readonly at: string;
  readonly db: string;
  readonly machine: Machine;
}

const JSON_FILE = join(PROJECT_ROOT, "docs", "benchmarks.json");
const PAGE = join(PROJECT_ROOT, "docs", "benchmarks.md");
const [BEGIN, END] = ["<!-- figures: begin -->", "<!-- figures: end -->"];

/** Writes a result to the committed file and to the page. Replaces the last one of its name. */
export async function saveResult(result: SavedResult): Promise<void> {
  const { [result.bench]: _, ...others } = await readResults();
  const results = Object.fromEntries(
    Object.entries({ ...others, [result.bench]: result }).sort(([a], [b]) => a < b ? -1 : 1),
  );
  await Deno.writeTextFile(JSON_FILE, `${JSON.stringify(results, null, 2)}\n`);
  const page = await Deno.readTextFile(PAGE);
  await Deno.writeTextFile(PAGE, withFigures(page, Object.values(results)));
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", PAGE, JSON_FILE],
    cwd: PROJECT_ROOT,
  }).output();
  if (!success) throw new Error(`Cannot format ${PAGE}: deno fmt failed`);
}

async function readResults(): Promise<Record<string, SavedResult>> {
  try {
    // No validation: only this module writes the file.
    return JSON.parse(await Deno.readTextFile(JSON_FILE)) as Record<string, SavedResult>;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

/** Replaces the figures between the markers of the page. */
export function withFigures(page: string, results: readonly SavedResult[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/benchmarks.md has no ${BEGIN} … ${END}`);
  const body = results.map(sectionOf).join("\n");
  return `${page.slice(0, begin)}${BEGIN}\n\n${body}\n${page.slice(end)}`;
}

function sectionOf(result: SavedResult): string {
  const { bench, figures, targets, met, details = {}, at, db, machine } = result;
  const names = Object.keys({ ...figures, ...targets });
  const versions = Object.entries(details.versions ?? {}).map(([name, version]) =>
    `${name} ${version}`
  );
  const rows = names.map((name) => {
    const target = targets[name];
    const spread = details.spreads?.[name];
    const range = spread === undefined ? "" : `${spread.low} to ${spread.high}`;
    const bound = target === undefined
      ? ""
      : `${describeTarget(target)}${meets(figures[name], target) ? "" : ", **missed**"}`;
    return [`\`${name}\``, String(figures[name] ?? "not measured"), range, bound];
  });
  const measuredOn = [
    at.slice(0, 10),
    db,
    `${machine.cores} cores (${machine.cpu})`,
    `load ${machine.load}`,
    `Deno ${machine.deno}`,
    ...versions,
  ].join(", ");
  return [
    `### ${bench}: ${met ? "met" : "missed"}`,
    "",
    ...tableOf([["figure", "median", "range of the rounds", "target"], ...rows]),
    "",
    `Measured on: ${measuredOn}.`,
    ...(details.notes ?? []).flatMap((note) => ["", note]),
    "",
  ].join("\n");
}

function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return rows.flatMap((row, index) => index === 0 ? [line(row), rule] : [line(row)]);
}

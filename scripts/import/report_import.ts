import { join } from "node:path";
import type { ImportPlan, WrittenFile } from "./import_plan.ts";

/** What was imported, and where. */
export interface ImportReport extends Pick<ImportPlan, "refused" | "ignored"> {
  readonly written: readonly WrittenFile[];
  readonly folder: string;
  /** The source as it was given. */
  readonly source: string;
  readonly isDryRun: boolean;
}

/** Most names of one line. */
const MAX_NAMED = 12;

/** Formats the result of an import as one line of JSON. */
export function importToJson({ written, refused, ignored, isDryRun }: ImportReport): string {
  return JSON.stringify({
    dry_run: isDryRun,
    files: written.map(({ path, source, change, leftOut, notes }) => ({
      path,
      source,
      change,
      left_out: leftOut,
      notes,
    })),
    refused,
    ignored,
  });
}

/** Formats the result of an import as text: each file with what was left out and changed. */
export function importToText({ written, ignored, folder, isDryRun }: ImportReport): string {
  const lines = written.flatMap(({ path, change, leftOut, notes }) => [
    `${change.padEnd(9)}  ${join(folder, path)}${
      leftOut.length > 0 ? ` without ${named(leftOut)}` : ""
    }`,
    ...notes.map((note) => `           ${note}`),
  ]);
  const changed = written.filter(({ change }) => change !== "unchanged").length;
  const count = `${changed} ${changed === 1 ? "file" : "files"}`;
  return [
    ...lines,
    ...ignored.length > 0
      ? [`ignored    ${named(ignored)}: a different kind of file, or a duplicate`]
      : [],
    isDryRun ? "Dry run: nothing was written." : `Wrote ${count}. deno task push registers them.`,
  ].join("\n");
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).join(", ");
  return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown;
}

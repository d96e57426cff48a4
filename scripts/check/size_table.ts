import { PROJECT_ROOT } from "../project_root.ts";

/** Files that people write and read. */
const WRITTEN = /\.(ts|tsx|vue|sql|md|css)$/;
const GENERATED =
  /^supabase\/migrations\/|\/vendor\/|database\.types\.ts$|platform_contract\.ts$|^registry\/r\//;
const TESTS = /_test\.ts$|^tests\/|^supabase\/tests\//;

/** Parts of the repository in the order of the table; a file belongs to the first that matches. */
const PARTS: Readonly<Record<string, RegExp>> = {
  tests: TESTS,
  docs: /\.md$/,
  "shared/app": /^shared\/app\//,
  "shared/servers": /^shared\/servers\//,
  "shared/engine": /^shared\/engine\//,
  "shared/gateway": /^shared\/gateway\//,
  "shared/models": /^shared\/models\//,
  "shared/platform": /^shared\/platform\//,
  supabase: /^supabase\//,
  console: /^console\//,
  stack: /^stack\//,
  client: /^client\//,
  scripts: /^scripts\//,
  lab: /^lab\//,
  others: /^/,
};
const NO_PRODUCT = ["tests", "docs", "others"];

interface Size {
  readonly files: number;
  readonly lines: number;
}

/** The sizes of one state of the repository: of files by part, and counts of database objects. */
interface RepositorySize {
  readonly parts: ReadonlyMap<string, Size>;
  readonly objects: ReadonlyMap<string, number>;
}

/**
 * The size of each part of the product now, and the change since the commit before: the last one if
 * something is not committed, otherwise its parent. Generated files are not counted. Empty where
 * there is no Git.
 */
export async function sizeTable(root = PROJECT_ROOT): Promise<string[]> {
  const status = await git(root, "status", "--porcelain");
  const before = status === "" ? "HEAD~1" : "HEAD";
  const [now, then] = [await measure(root, null), await measure(root, before)];
  if (now === null || then === null) return [];
  const row = (name: string, of: (size: RepositorySize) => readonly number[]) =>
    line(name, of(now), of(then));
  const filesAndLines = (names: readonly string[]) => ({ parts }: RepositorySize) => {
    const sizes = names.map((name) => parts.get(name) ?? { files: 0, lines: 0 });
    return [total(sizes, "files"), total(sizes, "lines")];
  };
  const product = Object.keys(PARTS).filter((name) => !NO_PRODUCT.includes(name));
  return [
    `${"".padEnd(16)}${"files".padStart(16)}${"lines".padStart(18)}   since ${before}`,
    ...Object.keys(PARTS).map((name) => row(name, filesAndLines([name]))),
    row("product", filesAndLines(product)),
    ...[...now.objects.keys()].map((name) => row(name, ({ objects }) => [objects.get(name) ?? 0])),
  ];
}

function line(name: string, now: readonly number[], before: readonly number[]): string {
  const cells = now.map((count, at) => {
    const change = count - (before[at] ?? 0);
    const sign = change > 0 ? "+" : "";
    return `${count}`.padStart(9) + (change === 0 ? "" : `${sign}${change}`).padStart(8);
  });
  return `${name.padEnd(16)}${cells.join(" ")}`.trimEnd();
}

function total(sizes: readonly Size[], what: keyof Size): number {
  return sizes.reduce((sum, size) => sum + size[what], 0);
}

/** The size at a commit, or of the files as they are for null; null if Git has no such commit. */
async function measure(root: string, commit: string | null): Promise<RepositorySize | null> {
  const lines = await countMatches(root, commit, "", ".");
  if (lines === null) return null;
  const parts = new Map<string, Size>();
  for (const [path, count] of lines) {
    if (!WRITTEN.test(path) || GENERATED.test(path)) continue;
    const [part = ""] = Object.entries(PARTS).find(([, pattern]) => pattern.test(path)) ?? [];
    const { files, lines } = parts.get(part) ?? { files: 0, lines: 0 };
    parts.set(part, { files: files + 1, lines: lines + count });
  }
  const objects = new Map<string, number>();
  for (const kind of ["function", "table"]) {
    const found = await countMatches(root, commit, `^create ${kind} `, "supabase/schemas") ?? [];
    objects.set(`SQL ${kind}s`, found.reduce((sum, [, count]) => sum + count, 0));
  }
  return { parts, objects };
}

/** How many lines of each file match. */
async function countMatches(
  root: string,
  commit: string | null,
  pattern: string,
  folder: string,
): Promise<(readonly [path: string, count: number])[] | null> {
  const where = commit === null ? ["--untracked"] : [commit];
  const output = await git(root, "grep", "-I", "-c", "-e", pattern, ...where, "--", folder);
  if (output === null) return null;
  return output.split("\n").filter((row) => row !== "").map((row) => {
    const path = commit === null ? row : row.slice(commit.length + 1);
    const colon = path.lastIndexOf(":");
    return [path.slice(0, colon), Number(path.slice(colon + 1))] as const;
  });
}

async function git(root: string, ...args: readonly string[]): Promise<string | null> {
  const { success, stdout } = await new Deno.Command("git", {
    args: ["-c", "core.quotePath=false", ...args],
    cwd: root,
    stderr: "null",
  }).output().catch(() => ({ success: false, stdout: new Uint8Array() }));
  return success ? new TextDecoder().decode(stdout).trimEnd() : null;
}

import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { isSkillFile } from "./parse_skill.ts";
import type { SkillFile } from "./skill.ts";

/** A skill's folder within a larger tree. */
export interface SkillFolder {
  /** Path of the folder; empty for the tree's root. */
  readonly path: string;
  /** Its files, by paths relative to it. */
  readonly files: readonly SkillFile[];
}

/** Files of file managers and version control, which are ignored. */
const JUNK = /(^|\/)(__MACOSX|\.git|node_modules|\._[^/]*|\.DS_Store|Thumbs\.db)(\/|$)/;

/**
 * Finds every skill in a tree of files: each folder with a `SKILL.md`, with all files in it that do
 * not belong to a nested skill.
 *
 * @throws SKILL_INVALID if there is none, or if a path leads out of the tree.
 */
export function findSkills(files: readonly SkillFile[]): readonly SkillFolder[] {
  for (const { path } of files) assertInside(path);
  const kept = files.filter(({ path }) => !JUNK.test(path));
  const roots = kept
    .filter(({ path }) => isSkillFile(path))
    .map(({ path }) => path.slice(0, path.lastIndexOf("/") + 1))
    .sort();
  if (roots.length === 0) {
    throw new SwarmError("SKILL_INVALID", "Cannot find a skill: no folder has a SKILL.md", {
      hint: "Pass a skill's folder, a folder of such folders, or an archive of either.",
    });
  }
  return roots.map((root) => ({
    path: root.replace(/\/$/, ""),
    files: kept
      .filter(({ path }) => rootOf(path, roots) === root)
      .map(({ path, bytes }) => ({ path: path.slice(root.length), bytes })),
  }));
}

/** The deepest skill folder that contains a path. */
function rootOf(path: string, roots: readonly string[]): string | undefined {
  return roots.filter((root) => path.startsWith(root)).sort((a, b) => b.length - a.length)[0];
}

/** Archives are untrusted: a path must stay inside. */
function assertInside(path: string): void {
  const isSafe = path !== "" && !/[\\\0]/.test(path) && !/^([A-Za-z]:|\/)/.test(path) &&
    !path.split("/").includes("..");
  if (isSafe) return;
  throw new SwarmError(
    "SKILL_INVALID",
    `Cannot read the skill: the path ${JSON.stringify(path.slice(0, 200))} leads out of it`,
    { hint: "Do not use this archive; ask its author for one with plain relative paths." },
  );
}

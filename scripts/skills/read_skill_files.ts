import { basename, join } from "node:path";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { SkillFile } from "../../shared/engine/skills/skill.ts";
import { MAX_FILE_BYTES, MAX_FILE_COUNT, MAX_TOTAL_BYTES } from "./archive_limits.ts";
import { readTarGz } from "./read_tar.ts";
import { readZip } from "./read_zip.ts";

/** Which files an import reads. */
export interface ReadOptions {
  /** By the path in a folder; the limits count only these. @default all */
  readonly isWanted?: (path: string) => boolean;
}

/**
 * Reads all files of a folder, or of a `.zip`, `.skill`, `.tar.gz` or `.tgz` archive.
 *
 * Does not follow links, because they can point outside of the folder.
 *
 * @throws SKILL_INVALID when there is nothing to read, or too much.
 */
export async function readSkillFiles(
  path: string,
  { isWanted = () => true }: ReadOptions = {},
): Promise<readonly SkillFile[]> {
  const info = await Deno.lstat(path).catch((cause) => {
    throw invalid(`Cannot read ${path}: it does not exist or is not readable`, cause);
  });
  if (info.isDirectory) return await readFolder(path, isWanted);
  if (!info.isFile) throw invalid(`Cannot read ${path}: it is neither a folder nor a file`);
  if (info.size > MAX_TOTAL_BYTES) {
    throw invalid(`Cannot read ${path}: it is larger than ${MAX_TOTAL_BYTES} bytes`);
  }
  const bytes = await Deno.readFile(path);
  const name = basename(path).toLowerCase();
  if (/\.(zip|skill)$/.test(name)) return await readZip(bytes);
  if (/\.(tar\.gz|tgz)$/.test(name)) return await readTarGz(bytes);
  throw invalid(`Cannot read ${path}: it is not a .zip, .skill, .tar.gz or .tgz archive`);
}

async function readFolder(
  root: string,
  isWanted: (path: string) => boolean,
): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = [];
  let totalBytes = 0;

  async function walk(relative: string): Promise<void> {
    for await (const entry of Deno.readDir(join(root, relative))) {
      const path = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory && entry.name !== ".git" && entry.name !== "node_modules") {
        await walk(path);
      }
      if (!entry.isFile || !isWanted(path)) continue;
      const { size } = await Deno.lstat(join(root, path));
      totalBytes += size;
      if (files.length >= MAX_FILE_COUNT || size > MAX_FILE_BYTES || totalBytes > MAX_TOTAL_BYTES) {
        throw invalid(`Cannot read ${root}: it has more or larger files than an import may have`);
      }
      files.push({ path, bytes: await Deno.readFile(join(root, path)) });
    }
  }

  await walk("");
  return files;
}

function invalid(message: string, cause?: unknown): SwarmError {
  return new SwarmError("SKILL_INVALID", message, {
    cause,
    hint: "Pass a folder, or a .zip, .skill, .tar.gz or .tgz archive of it.",
  });
}

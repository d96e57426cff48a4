import type { JsonObject } from "../../platform/values/json.ts";
import type { SkillFile } from "./skill.ts";

/** A model reads a resource as a whole. */
const MAX_RESOURCE_BYTES = 256 * 1024;
/** All resources of a skill are in one row. */
const MAX_RESOURCES_BYTES = 4 * 1024 * 1024;

const SCRIPT_EXTENSIONS =
  /\.(py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|ps1|bat|cmd|r|lua|go|rs|java|swift|applescript)$/i;

/** The classification of a skill's other files. */
export interface Resources {
  readonly resources: Readonly<Record<string, string>>;
  /** Paths of programs: they can be read as text but are never run. */
  readonly scripts: readonly JsonObject[];
  /** Files that are not imported, with the reason. */
  readonly notImported: readonly JsonObject[];
}

/** Sorts a skill's files into text resources, scripts, and files that cannot be imported. */
export function readResources(files: readonly SkillFile[]): Resources {
  const resources = new Map<string, string>();
  const scripts: JsonObject[] = [];
  const notImported: JsonObject[] = [];
  let totalBytes = 0;
  for (const { path, bytes } of [...files].sort((a, b) => a.path < b.path ? -1 : 1)) {
    const text = textOf(bytes);
    const reason = text === null
      ? "not text"
      : bytes.byteLength > MAX_RESOURCE_BYTES
      ? `larger than ${MAX_RESOURCE_BYTES} bytes`
      : totalBytes + bytes.byteLength > MAX_RESOURCES_BYTES
      ? `the skill is larger than ${MAX_RESOURCES_BYTES} bytes`
      : null;
    if (text === null || reason !== null) {
      notImported.push({ path, bytes: bytes.byteLength, reason });
      continue;
    }
    totalBytes += bytes.byteLength;
    resources.set(path, text);
    if (isScript(path, text)) scripts.push({ path, is_executable: false });
  }
  return { resources: Object.fromEntries(resources), scripts, notImported };
}

function isScript(path: string, text: string): boolean {
  return SCRIPT_EXTENSIONS.test(path) || text.startsWith("#!");
}

function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    // Not UTF-8: an image, a font, a document.
    return null;
  }
}

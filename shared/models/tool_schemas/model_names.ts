import { sha256Hex } from "../../platform/values/sha256_hex.ts";

/** A tool's two names: its server's slug and its name at that server. */
export interface NamedTool {
  readonly server: string;
  readonly toolName: string;
}

/** The strictest provider allows 64 characters and requires a letter or underscore first. */
const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * Gives each tool a unique function name that every model provider accepts: `<server>__<tool>`,
 * other characters replaced by `_`. Names that are too long or not unique are truncated and end in
 * eight hex digits of a hash of the two original names, so a name does not depend on the order of
 * the tools.
 *
 * @returns The names in the order of `tools`.
 */
export function modelNames(tools: readonly NamedTool[]): string[] {
  const plain = tools.map(plainName);
  const uses = new Map<string, number>();
  for (const name of plain) uses.set(name, (uses.get(name) ?? 0) + 1);
  return tools.map((tool, index) => {
    const name = plain[index] ?? plainName(tool);
    return name.length <= MAX_NAME_LENGTH && uses.get(name) === 1 ? name : hashedName(name, tool);
  });
}

function plainName({ server, toolName }: NamedTool): string {
  const name = `${server}__${toolName}`.replace(/[^a-zA-Z0-9_-]/g, "_");
  return /^[a-zA-Z_]/.test(name) ? name : `_${name}`;
}

function hashedName(name: string, { server, toolName }: NamedTool): string {
  const hash = sha256Hex(`${server}\0${toolName}`);
  const head = name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1);
  return `${head}_${hash.slice(0, HASH_LENGTH)}`;
}

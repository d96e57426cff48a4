import { join } from "node:path";
import { parseEnv } from "node:util";
import { CommandError } from "../errors/command_error.ts";
import { readOptional } from "../project/read_files.ts";

/** What Supabase's Docker Compose files say about edge functions. */
export interface ComposeFiles {
  /** Names of all services, which are hosts inside the network. */
  readonly services: readonly string[];
  /** The variables of the service `functions`. */
  readonly variables: Readonly<Record<string, string>>;
  /** The schemas that the REST API exposes; null if the files do not say it. */
  readonly schemas: string | null;
  /** The code that starts an isolate for each function; null without it. */
  readonly mainService: string | null;
}

const COMPOSE_PATH = "docker-compose.yml";
const MAIN_PATH = "volumes/functions/main/index.ts";

/**
 * Reads the folder of the Compose files: `docker-compose.yml`, `.env` and the main service of the
 * functions. It reads the form in which Supabase publishes them, not all of YAML.
 *
 * @throws CommandError `COMPOSE_NOT_FOUND`
 */
export async function readComposeFiles(folder: string): Promise<ComposeFiles> {
  const text = await readOptional(join(folder, COMPOSE_PATH));
  if (text === null) {
    throw new CommandError(
      "COMPOSE_NOT_FOUND",
      `Cannot check the Compose files: ${join(folder, COMPOSE_PATH)} does not exist`,
      "Name the folder with docker-compose.yml of a self-hosted Supabase after --compose.",
    );
  }
  const variables = parseEnv(await readOptional(join(folder, ".env")) ?? "");
  const services = blockOf(linesOf(text), "services");
  const environmentOf = (service: string) =>
    entriesOf(blockOf(blockOf(services, service), "environment"), variables);
  return {
    services: namesIn(services),
    variables: environmentOf("functions"),
    schemas: environmentOf("rest")["PGRST_DB_SCHEMAS"] ?? null,
    mainService: await readOptional(join(folder, MAIN_PATH)),
  };
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => /^\s*[^\s#]/.test(line));
}

/** The lines below a name, which are indented more than the name. */
function blockOf(lines: readonly string[], name: string): readonly string[] {
  const start = lines.findIndex((line) => line.trim() === `${name}:`);
  if (start < 0) return [];
  const below = lines.slice(start + 1);
  const end = below.findIndex((line) => indentOf(line) <= indentOf(lines[start] ?? ""));
  return end < 0 ? below : below.slice(0, end);
}

function namesIn(lines: readonly string[]): readonly string[] {
  const indent = indentOf(lines[0] ?? "");
  return lines.flatMap((line) =>
    indentOf(line) === indent ? /^\s*([\w.-]+):\s*$/.exec(line)?.[1] ?? [] : []
  );
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Entries of a mapping, or of a list of `NAME=value`. */
function entriesOf(
  lines: readonly string[],
  variables: NodeJS.Dict<string>,
): Readonly<Record<string, string>> {
  const entries = lines.flatMap((line): [string, string][] => {
    const [, name, value = ""] = /^\s*(?:-\s*["']?)?([A-Z][A-Z0-9_]*)\s*[:=]\s*(.*)$/.exec(line) ??
      [];
    return name === undefined ? [] : [[name, interpolate(unquoted(value), variables)]];
  });
  return Object.fromEntries(entries);
}

function unquoted(value: string): string {
  const text = value.trim();
  if (/^'.*'$/.test(text)) return text.slice(1, -1);
  if (/^".*"$/.test(text)) return text.slice(1, -1).replaceAll('\\"', '"');
  // The rest of a quoted entry of a list.
  return text.replace(/["']$/, "");
}

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME-default}`, as Compose does. */
function interpolate(value: string, variables: NodeJS.Dict<string>): string {
  return value.replace(
    /\$\{(\w+)(?:(:?-)((?:[^{}]|\{[^{}]*\})*))?\}/g,
    (_, name: string, operator: string | undefined, fallback = "") => {
      const found = variables[name];
      const isUsed = found !== undefined && (operator !== ":-" || found !== "");
      return isUsed ? found : fallback;
    },
  );
}

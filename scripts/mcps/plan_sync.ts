import { isDeepStrictEqual } from "node:util";
import type { LineProblem } from "../yaml/read_located_yaml.ts";
import type {
  ServerRow,
  WantedSecret,
  WantedServer,
} from "../../shared/gateway/mcps_file/wanted_server.ts";

/** What an entry makes, with the lines at which its problems are reported. */
export interface LocatedServer extends WantedServer {
  readonly line: number;
  readonly secrets: readonly (WantedSecret & { readonly line: number })[];
}

/** The part of the registry that a file can change. */
export interface RegistryState {
  readonly tools: readonly StoredTool[];
  /**
   * The secrets that the file created, by name; true if the value equals that of the environment.
   */
  readonly secrets: ReadonlyMap<string, boolean>;
}

/** A row of `tools`. */
export interface StoredTool extends ServerRow {
  readonly id: string;
  readonly slug: string;
  readonly type: string;
  readonly source: "manual" | "yaml";
  /** Agents that may use it. */
  readonly agentCount: number;
}

/** The change of one server. */
export interface ServerChange {
  readonly slug: string;
  readonly change: "added" | "changed" | "unchanged" | "switched_off" | "disabled" | "removed";
  /** Columns that differ; only for `changed`. */
  readonly fields: readonly string[];
  /** Agents that lose the tool when its row is removed. */
  readonly agentCount: number;
  /** The new row; null if no row is written. */
  readonly row: ServerRow | null;
}

/** The change of one secret. A plan never contains its value. */
export interface SecretChange {
  readonly name: string;
  /** The environment variable; null for a removed secret. */
  readonly variable: string | null;
  /** `kept`: the variable is not set, but Vault has the secret. */
  readonly change: "stored" | "replaced" | "unchanged" | "kept" | "removed";
}

/** The difference between the file and the registry. */
export interface SyncPlan {
  readonly servers: readonly ServerChange[];
  readonly secrets: readonly SecretChange[];
}

/** Names of environment variables that are set. */
export type SetVariables = ReadonlySet<string>;

/** Compares the file with the registry, or reports why it cannot be applied. */
export function planSync(
  wanted: readonly LocatedServer[],
  state: RegistryState,
  variables: SetVariables,
): SyncPlan | { readonly problems: readonly LineProblem[] } {
  const problems = [
    ...wanted.flatMap((server) => conflicts(server, wanted, state)),
    ...wanted.flatMap((server) => missingSecrets(server, state, variables)),
  ];
  if (problems.length > 0) return { problems };
  const slugs = new Set(wanted.map(({ slug }) => slug));
  const gone = state.tools.filter(({ slug, source }) => source === "yaml" && !slugs.has(slug));
  return {
    servers: [
      ...wanted.map((server) => serverChange(server, state)),
      ...gone.map(({ slug, agentCount }) => (
        { slug, change: "removed" as const, fields: [], agentCount, row: null }
      )),
    ],
    secrets: secretChanges(wanted, state, variables),
  };
}

/** Whether applying a plan would change anything. */
export function isEmptyPlan({ servers, secrets }: SyncPlan): boolean {
  return servers.every(({ change }) => change === "unchanged" || change === "disabled") &&
    secrets.every(({ change }) => change === "unchanged" || change === "kept");
}

function conflicts(
  { slug, line, row }: LocatedServer,
  wanted: readonly LocatedServer[],
  { tools }: RegistryState,
): LineProblem[] {
  const own = tools.find((tool) => tool.slug === slug);
  if (own !== undefined && own.source !== "yaml") {
    const message =
      `mcps.${slug}: the registry has a tool '${slug}' (${own.type}) that this file ` +
      "did not make; give the entry another key, or delete that row";
    return [{ line, message }];
  }
  const stays = (tool: StoredTool) =>
    tool.source === "manual" || wanted.some((other) => other.slug === tool.slug && !other.row);
  const namesake = tools.find((tool) =>
    tool.name === row?.name && tool.slug !== slug && stays(tool)
  );
  if (namesake === undefined) return [];
  const message = `mcps.${slug}.name: the tool '${namesake.slug}' is called '${namesake.name}' ` +
    "already; give the entry another name";
  return [{ line, message }];
}

function missingSecrets(
  { slug, secrets }: LocatedServer,
  state: RegistryState,
  variables: SetVariables,
): LineProblem[] {
  return secrets.filter(({ name, variable }) =>
    !variables.has(variable) && !state.secrets.has(name)
  )
    .map(({ variable, line }) => ({
      line,
      message: `mcps.${slug}: the environment variable ${variable} is not set; add it to .env ` +
        "for this command, or give the entry enabled: false",
    }));
}

function serverChange({ slug, row }: WantedServer, { tools }: RegistryState): ServerChange {
  const stored = tools.find((tool) => tool.slug === slug);
  const base = { slug, fields: [], agentCount: 0, row };
  if (row === null) {
    const isOn = stored?.is_active === true;
    return { ...base, change: isOn ? "switched_off" : "disabled" };
  }
  if (stored === undefined) return { ...base, change: "added" };
  const fields = Object.entries(row)
    .filter(([field, value]) => !isDeepStrictEqual(Reflect.get(stored, field), value))
    .map(([field]) => field);
  return { ...base, fields, change: fields.length === 0 ? "unchanged" : "changed" };
}

function secretChanges(
  wanted: readonly LocatedServer[],
  { secrets }: RegistryState,
  variables: SetVariables,
): SecretChange[] {
  const changes = wanted.flatMap((server) => server.secrets).map(({ name, variable }) => ({
    name,
    variable,
    change: !variables.has(variable)
      ? "kept" as const
      : secrets.has(name)
      ? secrets.get(name) ? "unchanged" as const : "replaced" as const
      : "stored" as const,
  }));
  const named = new Set(changes.map(({ name }) => name));
  const disabled = wanted.filter(({ row }) => row === null).map(({ slug }) => slug);
  const gone = [...secrets.keys()].filter((name) =>
    !named.has(name) && !disabled.some((slug) => name.split("/").at(-2) === slug)
  );
  return [
    ...changes,
    ...gone.map((name) => ({ name, variable: null, change: "removed" as const })),
  ];
}

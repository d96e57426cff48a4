import "../../format/no_eval.ts";
import { parse } from "yaml";
import { entriesOfClient } from "../../../../shared/gateway/mcps_file/entries_of_client.ts";
import type { McpEntry } from "../../../../shared/gateway/mcps_file/mcps_file_schema.ts";
import { readMcps } from "../../../../shared/gateway/mcps_file/read_mcps.ts";
import {
  serverDocument,
  type WantedSecret,
  wantedServer,
} from "../../../../shared/gateway/mcps_file/wanted_server.ts";
import type { JsonObject, JsonValue } from "../../../../shared/platform/values/json.ts";

/** The servers of a pasted text. */
export interface PastedServers {
  readonly kind: "read";
  /** The text is an `external-mcps.yaml`, whose missing servers are removed. */
  readonly isFile: boolean;
  /** By slug; null for a disabled one. */
  readonly servers: Readonly<Record<string, JsonObject | null>>;
  readonly secrets: readonly WantedSecret[];
  /** Values of secrets that the text contains, by the secret's name. */
  readonly values: Readonly<Record<string, string>>;
  readonly skipped: readonly { readonly slug: string; readonly reason: string }[];
}

/** What is wrong with a pasted text. */
export interface InvalidServers {
  readonly kind: "invalid";
  readonly problems: readonly string[];
}

/** Reads an `external-mcps.yaml`, or the JSON of another client's servers. Never throws. */
export function readServers(text: string): PastedServers | InvalidServers {
  let value: JsonValue;
  try {
    // JSON is YAML too.
    value = parse(text);
  } catch (error) {
    return { kind: "invalid", problems: [error instanceof Error ? error.message : String(error)] };
  }
  const client = entriesOfClient(value);
  const read = readMcps(client === null ? value : { mcps: client.mcps });
  if (read.kind === "invalid") {
    return { kind: "invalid", problems: read.problems.map(({ message }) => message) };
  }
  const wanted = Object.entries(read.mcps).map(([slug, entry]) =>
    wantedServer({ slug, entry }, client === null ? undefined : variableNamer(entry))
  );
  const secrets = wanted.flatMap((server) => server.secrets);
  return {
    kind: "read",
    isFile: client === null,
    servers: Object.fromEntries(
      wanted.map(({ slug, row }) => [slug, row === null ? null : serverDocument(row)]),
    ),
    secrets,
    values: Object.fromEntries(secrets.flatMap(({ name, variable }) => {
      const secret = client?.values[variable];
      return secret === undefined ? [] : [[name, secret]];
    })),
    skipped: client?.skipped ?? [],
  };
}

/** A key of the project has the name of its variable. */
function variableNamer({ credentials }: McpEntry) {
  return (_slug: string, key: string) => credentials[key] ?? key;
}

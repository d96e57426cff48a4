// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useMutation, useQueryClient } from "@tanstack/vue-query";
import type { Json } from "../../../client/mod.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** The servers to write; see `operator_sync_servers()`. */
export interface ServerSync {
  readonly servers: Readonly<Record<string, JsonObject | null>>;
  /** They are those of `external-mcps.yaml`: its other servers are removed. */
  readonly isFile: boolean;
}

/** What a sync does to one server. */
export interface ServerChange {
  readonly slug: string;
  readonly change: "added" | "changed" | "unchanged" | "switched_off" | "disabled" | "removed";
  readonly fields?: readonly string[];
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  /** The agents that have it. */
  readonly used_by: readonly string[];
}

/** What a sync does. */
export interface ServerSyncPlan {
  /** Of the servers that were compared; a change names it. */
  readonly state: string;
  readonly servers: readonly ServerChange[];
  readonly secrets: readonly {
    readonly name: string;
    readonly state: "stored" | "missing" | "removed";
  }[];
}

/** Asks what a sync would do; nothing is written. */
export function usePlanServerSync() {
  return useMutation({
    mutationFn: ({ servers, isFile }: ServerSync) =>
      send({ p_servers: servers as Json, p_is_file: isFile, p_is_dry_run: true }),
  });
}

/** Writes the servers of a plan. */
export function useApplyServerSync() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (
      { servers, isFile, secrets, state }: ServerSync & {
        readonly secrets: Readonly<Record<string, string>>;
        readonly state: string;
      },
    ) =>
      send({
        p_servers: servers as Json,
        p_is_file: isFile,
        p_secrets: secrets,
        p_state: state,
      }),
    onSettled: () => void queries.invalidateQueries(),
  });
}

async function send(given: {
  readonly p_servers: Json;
  readonly p_is_file: boolean;
  readonly p_secrets?: Json;
  readonly p_state?: string;
  readonly p_is_dry_run?: boolean;
}): Promise<ServerSyncPlan> {
  return dataOf(
    await projectClient().rpc("operator_sync_servers", given),
  ) as unknown as ServerSyncPlan;
}

// deno-lint-ignore-file explicit-module-boundary-types -- a query has the type of its answer
import { useQuery } from "@tanstack/vue-query";
import type { Ref } from "vue";
import { projectClient } from "../project/project_client.ts";
import { dataOf } from "../project/request_error.ts";

/** A table or view that the user's statements can read. */
export interface ReadableTable {
  readonly schema_name: string;
  readonly name: string;
  readonly kind: string;
  readonly comment: string | null;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly comment: string | null;
  }[];
}

/** The tables that the user's statements can read. Unlike `generate_schema`, it is no tool call. */
export function useTables(isWanted: Ref<boolean>) {
  return useQuery({
    queryKey: ["tables"],
    queryFn: async () =>
      dataOf(await projectClient().rpc("list_tables")) as unknown as ReadableTable[],
    enabled: isWanted,
    staleTime: Infinity,
  });
}

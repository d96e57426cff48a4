import { PROJECT_ROOT } from "../project_root.ts";
import { generateFromDatabase } from "../types/generate_from_database.ts";
import type { GeneratedFiles } from "./generated_files.ts";

/** The row types, closed sets, client contract and table reference, from an embedded database. */
export async function typeFiles(): Promise<GeneratedFiles> {
  const { types, closedSets, clientContract, tablesPage } = await generateFromDatabase(
    PROJECT_ROOT,
  );
  return {
    "shared/platform/db/database.types.ts": types,
    "shared/platform/db/closed_sets.ts": closedSets,
    "client/platform_contract.ts": clientContract,
    "docs/reference/tables.md": tablesPage,
  };
}

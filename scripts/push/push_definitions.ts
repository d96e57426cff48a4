import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import { jsonObject } from "../../shared/platform/values/json_schema.ts";
import {
  DEFINITION_KINDS,
  type RegistryDefinition,
} from "../../shared/engine/definitions/definition.ts";
import { toolSecrets } from "../../shared/engine/definitions/tool_secrets.ts";
import { CommandError } from "../cli/run_command.ts";
import { YamlFileError } from "../yaml/read_located_yaml.ts";
import type { SyncPlan } from "../mcps/plan_sync.ts";
import { syncInTransaction, type SyncOptions } from "../mcps/sync_mcps.ts";

const changeSchema = z.object({
  kind: z.enum(DEFINITION_KINDS),
  slug: z.string(),
  change: z.enum(["created", "changed", "unchanged", "removed", "left", "gone"]),
  /** Fields that the push changes. */
  fields: z.array(z.string()).default([]),
  before: jsonObject.optional(),
  after: jsonObject.optional(),
  /** Fields that were changed in the database since the last push. */
  drift: z.array(z.string()).default([]),
  /** Who notices the change. */
  affected: z.object({
    agents: z.array(z.string()).default([]),
    schedules: z.number().default(0),
    triggers: z.number().default(0),
    unfinished_tasks: z.number().default(0),
  }).prefault({}),
});

const problemSchema = z.object({
  kind: z.string(),
  name: z.string(),
  field: z.string(),
  problem: z.string(),
  hint: z.string(),
});

const planSchema = z.object({
  changes: z.array(changeSchema),
  /** What the pushed definitions lack: scopes, secrets, names. */
  problems: z.array(problemSchema),
});

/** The change of one definition. */
export type DefinitionChange = z.infer<typeof changeSchema>;

/** What people should know of a definition before they rely on it. */
type PushProblem = z.infer<typeof problemSchema>;

/** What a push changed, or would change. */
export interface PushPlan extends z.infer<typeof planSchema> {
  /** The changes of external-mcps.yaml; null without that file. */
  readonly servers: SyncPlan | null;
}

/** What to push. */
export interface PushOptions {
  readonly definitions: readonly RegistryDefinition[];
  /** The servers of external-mcps.yaml; null without that file. */
  readonly servers: Omit<SyncOptions, "isDryRun"> | null;
  /** Removes what earlier pushes created and the files no longer have. */
  readonly isPruning: boolean;
  /** Rolls everything back: the plan is what the push would do. */
  readonly isDryRun: boolean;
  /** Who pushes, for the revisions. */
  readonly pushedBy: string;
}

/** Ends the transaction of a dry run. */
class RolledBack extends Error {
  constructor(readonly plan: PushPlan) {
    super("Dry run");
  }
}

/** The secrets that a tool sent to another host before. */
function newDestinations({ kind, slug, before, after }: DefinitionChange): PushProblem[] {
  if (kind !== "tool" || before === undefined || after === undefined) return [];
  const [was, is] = [toolSecrets(before), toolSecrets(after)];
  if (was === null || is === null || was.host === is.host) return [];
  return is.secrets.filter((name) => was.secrets.includes(name)).map((name) => ({
    kind,
    name: slug,
    field: "config.url",
    problem: `sends the secret ${name} to ${is.host}; before, to ${was.host}`,
    hint: "If you did not intend this, restore the address, or name another secret.",
  }));
}

/**
 * Writes definitions and MCP servers into the registry, in one transaction. A repeated push changes
 * nothing.
 *
 * @throws SwarmError with the code of the row that is not valid, YamlFileError
 */
export async function pushDefinitions(sql: Sql, options: PushOptions): Promise<PushPlan> {
  const { definitions, servers, isPruning, isDryRun, pushedBy } = options;
  try {
    return await sql.begin(async (transaction) => {
      const synced = servers === null
        ? null
        : await syncInTransaction(transaction, { ...servers, isDryRun: false });
      const [row] = await transaction`
        select private.push_definitions(
          p_definitions => ${transaction.json(JSON.parse(JSON.stringify(definitions)))},
          p_prune => ${isPruning},
          p_pushed_by => ${pushedBy}
        ) as plan`;
      const { changes, problems } = planSchema.parse(row?.plan);
      const plan = {
        changes,
        problems: [...problems, ...changes.flatMap(newDestinations)],
        servers: synced,
      };
      if (isDryRun) {
        // What is checked at the end of a transaction.
        await transaction`set constraints all immediate`;
        throw new RolledBack(plan);
      }
      return plan;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.plan;
    if (error instanceof YamlFileError) throw error;
    const failure = toSwarmError(error, "push the definitions");
    // Whoever pushes may read what the database says.
    if (failure.code !== "INTERNAL" || !(error instanceof Error)) throw failure;
    throw new CommandError(`Cannot push the definitions: ${error.message}`, { cause: error });
  }
}

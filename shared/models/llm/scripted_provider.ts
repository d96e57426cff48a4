import { z } from "../../vendor/zod.js";
import { answerInTime } from "../../platform/db/answer_in_time.ts";
import type { Sql } from "../../platform/db/sql_client.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import type { ModelProvider } from "./call_model.ts";
import { SCRIPTED_PROVIDER } from "./scripted_model.ts";

const rowSchema = z.object({
  id: z.string(),
  name: z.string(),
  api: z.literal("openai"),
  base_url: z.string(),
  default_model: z.string(),
});

/**
 * Finds the provider of scripts; null if there is none.
 *
 * @throws SwarmError DATABASE_UNAVAILABLE
 */
export async function findScriptedProvider(sql: Sql): Promise<ModelProvider | null> {
  try {
    const [row] = await answerInTime(sql`
      select id, name, api, base_url, default_model
      from public.llm_providers where name = ${SCRIPTED_PROVIDER} and is_active`);
    return row === undefined ? null : rowSchema.parse(row);
  } catch (error) {
    throw toSwarmError(error, "find the provider of scripts");
  }
}

import type { ModelServer } from "../../scripts/models/model_server.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { call, complete, scriptTurns, type Turn } from "../e2e/script.ts";

/** An agent that takes a step when the test allows it. */
export interface PacedAgent {
  readonly slug: string;
  /** Lets this many more turns answer. */
  release(count: number): void;
}

/** Registers an agent that saves a value in each of its turns, and then completes. */
export async function addPacedAgent(
  { sql, models, slug, turns }: {
    readonly sql: Sql;
    readonly models: ModelServer;
    readonly slug: string;
    readonly turns: number;
  },
): Promise<PacedAgent> {
  const gates = Array.from({ length: turns }, () => Promise.withResolvers<void>());
  const script = gates.map((gate, index): Turn => async () => {
    await gate.promise;
    return index === turns - 1
      ? complete("done")
      : call("save_intermediate_data", { key: `value-${index}`, value: index });
  });
  models.addAgent(scriptTurns(slug, ...script as [Turn, ...Turn[]]));
  // A separate provider: the stack's models end with the stack.
  await addProvider(sql, { name: slug, baseUrl: `${models.url}/v1` });
  await addAgent(sql, { slug, provider: slug });
  let released = 0;
  return {
    slug,
    release(count) {
      for (const gate of gates.slice(released, released += count)) gate.resolve();
    },
  };
}

/**
 * `deno task decisions:record`: declares that stored transcripts are continued differently from now
 * on, or records transcripts of simulated worlds.
 */
import { openWorldDatabase } from "./simulation/open_world_database.ts";
import { runWorld } from "./simulation/world.ts";
import { CommandError, runCommand } from "../scripts/cli/run_command.ts";
import { writeLine } from "../scripts/terminal.ts";
import { taskContext } from "../shared/engine/agent/task_context.ts";
import { decisionFor, readDecisions, writeDecisions } from "./versions/stored_decisions.ts";

const SEEDS = 20;
const MAX_OF_SHAPE = 2;

await runCommand(
  {
    name: "deno task decisions:record",
    summary: "Declares that tasks which older workers began are continued differently.",
    options: {
      because: { type: "string", placeholder: "TEXT", help: "Why they are; it is stored." },
      anew: { type: "boolean", help: "Records new transcripts, in simulated worlds." },
    },
  },
  async ({ values: { because, anew: isAnew } }) => {
    if (because === undefined || because.trim() === "") {
      throw new CommandError("Cannot record the decisions without a reason: use --because");
    }
    const { reasons, transcripts } = await readDecisions();
    const contexts = isAnew ? await recordContexts() : transcripts.map(({ context }) => context);
    const decided = contexts.map((context) => ({
      context,
      decision: decisionFor(context).summary,
    }));
    await writeDecisions({ reasons: [...reasons, because], transcripts: decided });
    writeLine(`${decided.length} transcripts are stored`);
  },
);

/** Transcripts of different shapes: what kinds of steps they have, and what is decided then. */
async function recordContexts(): Promise<unknown[]> {
  const database = await openWorldDatabase();
  const shapes = new Map<string, unknown[]>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    for (const context of (await runWorld(database, seed)).contexts) {
      const { steps } = taskContext.parse(context);
      const [kind] = decisionFor(context).summary.split(" ");
      const shape = `${steps.map((step) => `${step.kind} ${step.state}`).join(", ")}: ${kind}`;
      const known = shapes.get(shape) ?? [];
      if (known.length < MAX_OF_SHAPE) shapes.set(shape, [...known, context]);
    }
  }
  return [...shapes.values()].flat();
}

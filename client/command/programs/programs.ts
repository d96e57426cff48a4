/** A program of the package that runs with Deno in a project that has the platform. */
interface Program {
  /** Its module in the package's folder of programs. */
  readonly entry: string;
  /** The task that runs it in the platform's own repository. */
  readonly task: string;
  /** Whether it takes time to end at a signal, and ends at once at the second one. */
  readonly endsInOrder?: true;
}

/** The programs by the name of their command. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  dev: { entry: "scripts/start.ts", task: "start", endsInOrder: true },
  worker: { entry: "scripts/worker.ts", task: "worker", endsInOrder: true },
  push: { entry: "scripts/push.ts", task: "push" },
  pull: { entry: "scripts/pull.ts", task: "pull" },
  agents: { entry: "scripts/agents.ts", task: "agents" },
  pause: { entry: "scripts/pause.ts", task: "pause" },
  resume: { entry: "scripts/resume.ts", task: "resume" },
  sql: { entry: "scripts/sql.ts", task: "sql" },
  import: { entry: "scripts/import.ts", task: "import" },
  "skills:import": { entry: "scripts/skills_import.ts", task: "skills:import" },
  "mcps:sync": { entry: "scripts/mcps_sync.ts", task: "mcps:sync" },
  "mcps:import": { entry: "scripts/mcps_import.ts", task: "mcps:import" },
  "quoth:add": { entry: "scripts/quoth_add.ts", task: "quoth:add" },
  "quoth:remove": { entry: "scripts/quoth_remove.ts", task: "quoth:remove" },
  eval: { entry: "scripts/eval.ts", task: "eval", endsInOrder: true },
};

import type { Violation } from "./invariants.ts";
import type { Journal } from "./journal.ts";
import type { MemoryDatabase } from "./memory_database.ts";

interface Step {
  readonly task_id: string;
  readonly seq: number;
  readonly kind: string;
  readonly name: string;
  readonly text: string | null;
  readonly key: string;
  readonly state: string;
  readonly approvals: number;
}

/** Forks copy the steps of another task. */
const STEPS = `
  select step.task_id, step.seq, step.kind, step.name, step.output ->> 'text' as text,
    step.task_id || ':' || step.seq as key, step.state, (
      select count(*)::int from public.human_reviews as review
      where review.task_id = step.task_id and review.seq = step.seq and review.approved
    ) as approvals
  from public.task_steps as step
  where step.kind in ('model', 'tool')
    and step.task_id not in (select fork_id from private.task_forks)`;

/** Compares what models and tools saw with what the database says. */
export async function judgeJournal(
  database: MemoryDatabase,
  { answers, runs, receipts }: Journal,
): Promise<Violation[]> {
  const steps = await database.query(STEPS, [], "journal") as Step[];
  const messages = await database.query(
    "select id from public.webhook_messages where status = 'delivered'",
    [],
    "journal",
  ) as { id: string }[];
  const unreceived = messages.filter(({ id }) => !receipts.has(id)).map(({ id }) => ({
    name: "a delivered message was received",
    detail: id,
  }));
  return unreceived.concat(
    steps.flatMap(({ task_id, seq, kind, name, text, key, state, approvals }) => {
      const detail = `${task_id} ${seq} ${name}`;
      const runCount = runs.get(key) ?? 0;
      const found: Violation[] = [];
      if (kind === "model" && state === "done" && !answers.get(task_id)?.has(text ?? "")) {
        found.push({ name: "an answer was given", detail: `${detail} ${text}` });
      }
      if (kind === "tool" && name === "pay" && runCount > 1 + approvals) {
        found.push({ name: "an effect is repeated only with approval", detail });
      }
      if (kind === "tool" && state === "done" && runCount === 0) {
        found.push({ name: "a result has a run", detail });
      }
      return found;
    }),
  );
}

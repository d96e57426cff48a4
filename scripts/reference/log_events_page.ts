import { LOG_EVENTS } from "../../shared/platform/log/log_events.ts";

const HEAD = `# Log events

Functions write one JSON object per line: \`{"at", "level", "source", "event", …fields}\`. \`source\`
is the function's name. Lines contain no secrets, prompts or tool payloads. In a hosted project they
are in the function's logs, on your machine in the output of \`deno task start\`.

By default, functions log from \`info\` on; the secret \`SUPASWARM_LOG_LEVEL\` sets another level
(\`debug\`, \`info\`, \`warn\` or \`error\`). A hosted project keeps 100 lines of a function in ten
seconds, so a run of a task logs one line at most at the default level: its end, its failure
(\`task.failing\`) or its loss (\`task.let_go\`), and nothing while the task only waits. Retries and
the rest are in \`task_events\` and in the job's trace, whatever the level is.

| level | meaning |
| --- | --- |
| \`debug\` | what single runs and calls do, for somebody who looks for it |
| \`info\` | the course of events: starts, ends, refused requests |
| \`warn\` | something failed and is handled; look if it continues |
| \`error\` | something failed for good, or is a fault of the platform |

\`deno task generate log-events\` writes this table from \`shared/platform/log/log_events.ts\`, and the
logger accepts no other event, level or field.

| event | level | what happened | fields | what to do |
| --- | --- | --- | --- | --- |
`;

/** The page of every event that the functions log. */
export function logEventsPage(): string {
  const rows = Object.entries(LOG_EVENTS).map(([name, { levels, happened, fields, action }]) => {
    const codes = fields.map((field) => `\`${field}\``).join(", ");
    return `| \`${name}\` | ${levels.join(", ")} | ${happened} | ${codes} | ${action} |\n`;
  });
  return HEAD + rows.join("");
}

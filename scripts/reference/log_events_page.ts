import { LOG_EVENTS } from "../../shared/platform/log/log_events.ts";

const HEAD = `# Log events

Functions write one JSON object per line: \`{"at", "level", "source", "event", …fields}\`. \`source\`
is the function's name. Lines contain no secrets, prompts or tool payloads. In a hosted project they
are in the function's logs, on your machine in the output of \`deno task start\`.

\`deno task log-events:generate\` writes this table from \`shared/platform/log/log_events.ts\`, and the
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

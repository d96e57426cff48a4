import assert from "node:assert/strict";
import { ContextFileError, readContextFile } from "./context_file.ts";

const FILE = `# Supabase SQL Context Learning

## Database Schema Overview
<!-- Auto-generated section -->
orders(id bigint key)
<!-- End of auto-generated section -->
Orders are never deleted.

## Successful Query Patterns
### Agent Analytics Queries
Jobs a day.
\`\`\`sql
# not a heading
select 1
\`\`\`

## Common Error Patterns & Fixes
### Column Name Issues
**Error**: \`column "created_date" does not exist\`
**Fix**: Use \`created_at\` instead

**Error**: \`relation "user" does not exist\` **Fix**: Use \`users\`,
which is the plural

## Query Optimization Insights
### Effective Patterns
- Time filtering best practices
- Join optimization techniques

## Model Performance Notes
### claude-3-5-sonnet
- **Strengths**: Complex joins, business logic
- **Best For**: Analytics and reporting
`;

Deno.test("readContextFile() reads all five sections", () => {
  const { overview, patterns, fixes, insights, modelNotes } = readContextFile(FILE);

  assert.equal(overview, "Orders are never deleted.");
  assert.deepEqual(patterns, [{
    title: "Agent Analytics Queries",
    text: "Jobs a day.",
    sql: "# not a heading\nselect 1",
    line: 13,
  }]);
  assert.deepEqual(fixes, [
    {
      title: "Column Name Issues",
      error: 'column "created_date" does not exist',
      fix: "Use `created_at` instead",
    },
    {
      title: "Column Name Issues",
      error: 'relation "user" does not exist',
      fix: "Use `users`,\nwhich is the plural",
    },
  ]);
  assert.deepEqual(insights.map(({ title }) => title), ["Effective Patterns"]);
  assert.match(modelNotes[0]?.text ?? "", /Complex joins/);
});

Deno.test("readContextFile() skips entries that nobody has accepted yet", () => {
  const proposal = "<!-- Proposed\n### New\n```sql\nselect 2\n```\n-->\n### Agent";

  const { patterns } = readContextFile(FILE.replace("### Agent", proposal));

  assert.deepEqual(patterns.map(({ title, line }) => [title, line]), [
    ["Agent Analytics Queries", 19],
  ]);
});

const BROKEN: readonly (readonly [string, string, string, RegExp])[] = [
  ["a title that is missing", "# Supabase SQL Context Learning", "# Learning", /^line 1: .*begin/],
  [
    "a section that is unknown",
    "## Query Optimization",
    "## Speed",
    /^line 25: unknown section/,
  ],
  ["a fence that is never closed", "select 1\n```", "select 1", /^line 12: .*never closed/],
  [
    "a pattern without a query",
    "```sql\n# not a heading\nselect 1\n```",
    "",
    /^line 10: .*no query/,
  ],
  ["an error without a fix", "**Fix**: Use `created_at` instead", "", /^line 19: .*no \*\*Fix/],
  [
    "a section that is repeated",
    "## Model Performance Notes",
    "## Query Optimization Insights",
    /^line 30: .*is repeated/,
  ],
  [
    "a generated part without an end",
    "<!-- End of auto-generated section -->\n",
    "",
    /^line 4: .*missing/,
  ],
];

for (const [name, before, after, message] of BROKEN) {
  Deno.test(`readContextFile() names the line of ${name}`, () => {
    assert.throws(() => readContextFile(FILE.replace(before, after)), (error) => {
      assert.ok(error instanceof ContextFileError);
      assert.match(error.message, message);
      return true;
    });
  });
}

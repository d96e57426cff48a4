import { INTERNAL_SERVERS } from "../../shared/app/internal_servers.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { asJsonObject } from "../../shared/platform/values/json.ts";
import { createToolGateway } from "../../shared/gateway/tools/gateway.ts";
import { publishContext } from "../../scripts/context/publish_context.ts";
import { startModelServer } from "../../scripts/models/model_server.ts";
import { type ScriptedRequest, scriptModel } from "../../scripts/models/scripted_agent.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { openQueueDatabase } from "./queue_database.ts";
import { serverVersion } from "./server_version.ts";

/** The name of a column that the model assumes, and the real name. */
const COLUMNS = [
  ["created_date", "created_at"],
  ["customer_name", "full_name"],
  ["price", "unit_price_cents"],
  ["quantity", "item_count"],
  ["country", "country_code"],
  ["phone", "phone_number"],
] as const;

const CONTEXT = `# Supabase SQL Context Learning

## Common Error Patterns & Fixes

### Column Name Issues

${
  COLUMNS.map(([wrong, right]) =>
    `**Error**: \`column "${wrong}" does not exist\`\n\n**Fix**: Use \`${right}\` instead\n`
  ).join("\n")
}`;

/**
 * SQL context: how many attempts of `generate_sql` it saves a model that uses wrong names until an
 * error or the context shows the right one.
 *
 * @param db `native` or a URL.
 */
export async function benchSqlContext(db: string): Promise<BenchResult> {
  await using database = await openQueueDatabase(db);
  const { sql } = database;
  const models = await startModelServer({ agents: [scriptModel("guesser", answerByBelief)] });
  try {
    const userId = await prepare(sql, models.url);
    const without = await attemptsOfAll(sql, userId);
    await publishContext(sql, CONTEXT);
    const learned = await attemptsOfAll(sql, userId);
    const figures = {
      questions: COLUMNS.length,
      without_attempts_per_question: without,
      with_attempts_per_question: learned,
      attempts_saved_share: rounded(1 - learned / without),
    };
    return judge("sql_context", figures, { attempts_saved_share: { min: 0.4 } }, {
      versions: await serverVersion(sql),
      notes: [
        "The model is a script that guesses the name of a column, and follows the similar names in an error and the fixes in its prompt. It does not read the schema, so only learning helps.",
      ],
    });
  } finally {
    await models.stop();
  }
}

/** Uses the right name if a fix or an error contains it, otherwise the wrong one. */
function answerByBelief({ messages }: ScriptedRequest) {
  const texts = messages.map(({ text }) => text);
  const question = texts[0]?.split("# User Request").at(-1) ?? "";
  const [wrong, right] = COLUMNS.find(([wrong]) => question.includes(wrong)) ?? COLUMNS[0];
  const isFixed = texts[0]?.includes(`**Fix**: Use \`${right}\``) === true;
  const isCorrected = messages.some(({ role }) => role === "assistant");
  return { text: `select ${isFixed || isCorrected ? right : wrong} from orders` };
}

async function prepare(sql: Sql, modelUrl: string): Promise<string> {
  const columns = COLUMNS.map(([, right]) => `${right} text`).join(", ");
  await sql.unsafe(`create table public.orders (id int primary key, ${columns});
    grant select on public.orders to authenticated`);
  const registered = [{ slug: "supabase", name: "Supabase", description: "SQL" }];
  await sql`select private.register_servers(${sql.json(registered)})`;
  await sql`
    insert into public.llm_providers (name, display_name, api, base_url, default_model, requires_api_key)
    values ('guessing', 'Guessing', 'openai', ${`${modelUrl}/v1`}, 'guesser', false)`;
  await sql`
    update public.mcp_tool_models
    set default_provider = 'guessing', default_model = null, supported_providers = '{guessing}'
    where mcp_name = 'supabase' and tool_name = 'generate_sql'`;
  const userId = crypto.randomUUID();
  await sql`insert into auth.users (id, email) values (${userId}, 'bench@example.com')`;
  return userId;
}

async function attemptsOfAll(sql: Sql, userId: string): Promise<number> {
  const gateway = createToolGateway({
    sql,
    internalServers: INTERNAL_SERVERS,
    supabaseUrl: "http://127.0.0.1:9",
    secretKey: "sb_secret_bench",
    allowLoopback: true,
    log: () => {},
  });
  let attempts = 0;
  for (const [wrong] of COLUMNS) {
    const outcome = await gateway.call({
      server: "supabase",
      toolName: "generate_sql",
      arguments: { prompt: `Which ${wrong} does each of the orders have?` },
      caller: {
        userId,
        agentId: null,
        taskId: null,
        clientId: null,
        sessionId: null,
        clientName: null,
        isService: false,
      },
      stepSeq: null,
      attempt: 1,
      idempotencyKey: crypto.randomUUID(),
      traceparent: null,
    }, new AbortController().signal);
    if (outcome.kind !== "answered" || outcome.isError) {
      throw new Error(`generate_sql failed: ${JSON.stringify(outcome)}`);
    }
    attempts += Number(asJsonObject(outcome.meta).attempt);
  }
  return rounded(attempts / COLUMNS.length);
}

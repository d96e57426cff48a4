import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { writeLine } from "../../scripts/terminal.ts";
import { loadSupabaseJs, type SupabaseClient } from "../deps.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import {
  type Actor,
  ACTORS,
  CLIENT_SCOPE,
  FUNCTION_RULES,
  type FunctionRule,
  NO_OPERATOR,
  NO_RIGHT,
  PRIVATE_FUNCTIONS_OF_USERS,
  PRIVATE_TABLES_OF_USERS,
  TABLE_RULES,
  type TableRule,
} from "./access_rules.ts";
import { type Cast, castOf, type Person } from "./cast.ts";
import { readFunctions, readRelations, readRightsIn, type Relation } from "./catalogue.ts";
import { fillEveryTable } from "./owned_rows.ts";

/** Not exposed by PostgREST, whatever the privileges are. */
const HIDDEN_SCHEMAS = [
  ...["private", "auth", "storage", "realtime", "vault", "pgmq", "net", "cron", "extensions"],
  ...["supabase_migrations", "information_schema", "pg_catalog"],
];
const NOT_EXPOSED = "PGRST106";

Deno.test("each role reaches its own data and nothing else", async (t) => {
  await using platform = await bootPlatform();
  await using people = await castOf(platform);
  const cast = { ...people, ...await actingFor(people.owner, platform) };
  const { sql } = platform;
  const world = await fillEveryTable(sql, cast.owner.id);
  const relations = await readRelations(sql);
  const functions = await readFunctions(sql);
  let cells = 0;

  await t.step("every table, view and function has an answer in access_rules.ts", () => {
    assert.deepEqual(relations.map(({ name }) => name).sort(), Object.keys(TABLE_RULES).sort());
    assert.deepEqual(
      functions.map(({ signature }) => signature).sort(),
      Object.keys(FUNCTION_RULES).sort(),
    );
  });

  for (const relation of relations) {
    const rule = TABLE_RULES[relation.name];
    if (rule === undefined) continue; // Reported above.
    await t.step(`${relation.kind} ${relation.name}`, async () => {
      await assertRowsAreSound(sql, { relation, rule, cast });
      cells += await checkReads({ relation, rule, cast, sql });
      cells += await checkWrites({ relation, rule, cast });
    });
  }

  for (const { name, signature } of functions) {
    const rule = FUNCTION_RULES[signature];
    if (rule === undefined) continue;
    await t.step(`function ${signature}`, async () => {
      for (const actor of ACTORS) {
        const args = await rule.arguments(world);
        const { error }: { error: CallError } = await clientOf(cast, actor).rpc(name, args);
        const expected: string = actor === "operator"
          ? rule.operator ?? rule.stranger
          : rule[actor];
        assert.equal(toOutcome(error), expected, `${actor}: ${JSON.stringify(error)}`);
        cells++;
      }
    });
  }

  await t.step("only the schema public is exposed, even to the service", async () => {
    for (const schema of HIDDEN_SCHEMAS) {
      for (const actor of ACTOR_OF_EACH_ROLE) {
        const { error } = await clientOf(cast, actor).schema(schema).from("anything").select();
        assert.equal(error?.code, NOT_EXPOSED, `${actor} in ${schema}`);
        cells++;
      }
    }
  });

  await t.step("users can use only what policies, views and wrappers need in private", async () => {
    const rights = await readRightsIn(sql, "private");
    assert.deepEqual(rights.filter(({ role }) => role !== "authenticated"), []);
    assert.deepEqual(
      rights.map(({ kind, name }) => `${kind} ${name}`),
      [
        ...PRIVATE_FUNCTIONS_OF_USERS.map((signature) => `function ${signature}`),
        ...PRIVATE_TABLES_OF_USERS.map((name) => `relation ${name}`),
      ],
    );
  });

  writeLine(
    `access matrix: ${relations.length} tables and views, ${functions.length} functions, ` +
      `${ACTORS.length} actors, ${cells} cells`,
  );
});

interface RelationCase {
  readonly relation: Relation;
  readonly rule: TableRule;
  readonly cast: WholeCast;
}

/** A rule that no row of the fixture could break would prove nothing. */
async function assertRowsAreSound(
  sql: Sql,
  { relation: { name }, rule: { usersRead }, cast }: RelationCase,
): Promise<void> {
  if (usersRead === null) return;
  const owners = await countRows(sql, { name, usersRead, userId: cast.owner.id });
  assert.ok(owners > 0, `owned_rows.ts adds no row to ${name} that its owner can read`);
  if (!usersRead.includes("$1")) return;
  const strangers = await countRows(sql, { name, usersRead, userId: cast.stranger.id });
  assert.ok(owners > strangers, `owned_rows.ts adds no row of the owner to ${name}`);
}

async function checkReads({ relation, rule, cast, sql }: RelationCase & { readonly sql: Sql }) {
  const { name, columns } = relation;
  const { usersRead, hidden = [], scope = CLIENT_SCOPE, isOfOperators = false } = rule;
  const refusal = isOfOperators ? NO_OPERATOR : NO_RIGHT;
  const visible = columns.filter((column) => !hidden.includes(column)).join(",");
  const anon = await cast.anon.from(name).select(visible);
  assert.equal(anon.error?.code, NO_RIGHT, "anon reads");
  const service = await cast.service.from(name).select();
  assert.equal(service.error, null, "the service reads every column");

  for (const person of ["owner", "stranger", "operator"] as const) {
    const client = clientOf(cast, person);
    const userId = person === "operator" ? OPERATOR_ID : cast[person].id;
    const { data, error } = await client.from(name).select(visible);
    if (person === "operator" && isOfOperators) {
      assert.equal(error, null, `the operator reads: ${error?.message}`);
      assert.ok((data?.length ?? 0) > 0, `owned_rows.ts adds no row to ${name}`);
      continue;
    }
    if (usersRead === null) {
      assert.equal(error?.code, refusal, `${person} reads`);
      continue;
    }
    assert.equal(error, null, `${person} reads: ${error?.message}`);
    const expected = await countRows(sql, { name, usersRead, userId });
    assert.equal(data?.length, expected, `rows that ${person} reads`);
    for (const column of hidden) {
      const peeked = await client.from(name).select(column);
      assert.equal(peeked.error?.code, NO_RIGHT, `${person} reads ${column}`);
    }
  }
  for (const actor of ["agent", "client"] as const) {
    const { data, error } = await cast[actor].from(name).select(visible);
    if (usersRead === null) {
      assert.equal(error?.code, refusal, `the ${actor} reads`);
      continue;
    }
    const seen = actor === "client" && scope !== CLIENT_SCOPE
      ? 0
      : await countRows(sql, { name, usersRead, userId: cast.owner.id });
    assert.equal(data?.length, seen, `rows that the ${actor} reads: ${error?.message}`);
  }
  return ACTORS.length;
}

/** The expected refusals of delegates where users write their own rows. */
const DELEGATES_REFUSAL = { agent: "AGENT_NOT_ALLOWED", client: "INSUFFICIENT_SCOPE" } as const;

/**
 * One actor for each database role. Without a privilege of its role, no actor writes, whatever its
 * claims are.
 */
const ACTOR_OF_EACH_ROLE: readonly Actor[] = ["anon", "owner", "service"];

async function checkWrites({ relation, rule, cast }: RelationCase): Promise<number> {
  const { usersWrite, service } = rule;
  const column = usersWrite ?? relation.requiredColumn;
  assert.deepEqual(relation.writers, usersWrite === undefined ? [] : ["authenticated"]);
  const actors = usersWrite === undefined ? ACTOR_OF_EACH_ROLE : ACTORS;
  for (const actor of actors) {
    const isPerson = actor === "owner" || actor === "stranger" || actor === "operator";
    const mayWrite = actor === "service" && service === "writes" ||
      isPerson && usersWrite !== undefined;
    const table = () => clientOf(cast, actor).from(relation.name);
    // Postgres checks the privilege before it refuses the null, and before it finds no row.
    const { error: insertion } = await table().insert({ [column]: null });
    const { error: update } = await table().update({ [column]: null }).is(column, null);
    const { error: deletion } = await table().delete().is(column, null);

    if (usersWrite !== undefined && (actor === "agent" || actor === "client")) {
      // Updates and deletions match no row here; supabase/tests tests them with rows.
      assert.equal(toOutcome(insertion), DELEGATES_REFUSAL[actor], `${actor} inserts`);
      continue;
    }
    const refusals = [insertion, update, deletion].map((error) =>
      error !== null && isRefusal(error.code, relation)
    );
    assert.deepEqual(refusals, Array(3).fill(!mayWrite), `${actor} inserts, updates, deletes`);
    if (mayWrite) assert.deepEqual([update, deletion], [null, null], `${actor} changes rows`);
  }
  return actors.length * 3;
}

/** Most views are read-only, which Postgres reports before it checks the privilege. */
function isRefusal(code: string, { kind }: Relation): boolean {
  return code === NO_RIGHT || kind === "view" && code === "55000";
}

async function countRows(
  sql: Sql,
  { name, usersRead, userId }: {
    readonly name: string;
    readonly usersRead: string;
    readonly userId: string;
  },
): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int as count from public.${name} where $1::uuid is not null and (${usersRead})`,
    [userId],
  );
  return row?.count ?? 0;
}

function clientOf(cast: WholeCast, actor: Actor): SupabaseClient {
  return actor === "owner" || actor === "stranger" ? cast[actor].client : cast[actor];
}

/** The users, and the delegates of the owner. */
interface WholeCast extends Omit<Cast, typeof Symbol.asyncDispose> {
  readonly agent: SupabaseClient;
  readonly client: SupabaseClient;
  readonly operator: SupabaseClient;
}

const OPERATOR_ID = "0be7a708-0000-4000-8000-000000000001";

/**
 * An agent's tool that sends the owner's token, the owner's OAuth client with one scope, and an
 * operator.
 */
async function actingFor(
  owner: Person,
  { project, sql, keys }: Platform,
): Promise<Pick<WholeCast, "agent" | "client" | "operator">> {
  const { createClient } = await loadSupabaseJs();
  const claims = await keys.verifyUserToken(owner.accessToken);
  assert.ok(claims);
  await sql`
    insert into public.mcp_grants (user_id, client_id, scopes)
    values (${owner.id}, 'reader', array[${CLIENT_SCOPE}])`;
  await sql`
    with account as (
      insert into auth.users (id, email, aud, role)
      values (${OPERATOR_ID}, 'operator@example.test', 'authenticated', 'authenticated')
      returning id
    )
    insert into public.mcp_grants (user_id, scopes) select id, '{swarm:operate}' from account`;
  const operatorToken = await keys.signUserToken({ ...claims, sub: OPERATOR_ID });
  const clientToken = await keys.signUserToken({ ...claims, client_id: "reader" });
  const withHeaders = (headers: Record<string, string>) =>
    createClient(project.apiUrl, project.publishableKey, {
      auth: { persistSession: false, autoRefreshToken: false },
      global: { headers },
    });
  return {
    agent: withHeaders({
      authorization: `Bearer ${owner.accessToken}`,
      "x-supaswarm-actor": "agent",
    }),
    client: withHeaders({ authorization: `Bearer ${clientToken}` }),
    operator: withHeaders({ authorization: `Bearer ${operatorToken}` }),
  };
}

type CallError = { readonly code: string; readonly details: string | null } | null;

/** Our own refusals have their stable code in `details`. */
function toOutcome(error: CallError): FunctionRule[Actor] {
  if (error === null) return "runs";
  return error.code.startsWith("PT") ? error.details ?? error.code : error.code;
}

import assert from "node:assert/strict";
import type { JsonObject } from "../../shared/platform/values/json.ts";
import type { ToolCaller } from "../../shared/gateway/tool_contracts/tool_caller.ts";
import type { ToolCallOutcome } from "../../shared/gateway/tool_contracts/tool_call.ts";
import {
  callOf,
  noAbort,
  openToolFixture,
  type ToolFixture,
  userCaller,
} from "../gateway/tools/tool_fixture.ts";

const SECRET = "c4n4ry-of-the-vault";

/** Functions as an operator may write them, each more careless than the previous one. */
const FUNCTIONS = `
  create table public.letters (owner uuid not null default auth.uid(), body text not null);
  alter table public.letters enable row level security;
  create policy own on public.letters to authenticated using (owner = auth.uid());
  grant select, insert on public.letters to authenticated;

  create function public.look_up(p_setting text, p_value text) returns text language sql stable as $$
    with changed as materialized (select set_config(p_setting, p_value, true) as value)
    select string_agg(secret.decrypted_secret, ',') from changed, vault.decrypted_secrets as secret
  $$;
  create function public.run(p_statement text) returns text language plpgsql volatile as $$
    declare v_result text;
    begin
      execute p_statement into v_result;
      return v_result;
    end
  $$;
  create function public.read_only_run(p_statement text) returns text language plpgsql stable as $$
    declare v_result text;
    begin
      execute p_statement into v_result;
      return v_result;
    end
  $$;
  create function public.leave(p_statement text) returns boolean language plpgsql volatile as $$
    begin
      execute p_statement;
      return true;
    end
  $$;
  create function public.leave_table() returns boolean language plpgsql volatile as $$
    begin
      create temp table letters as select 'a forged letter' as body;
      grant all on letters to public;
      return true;
    end
  $$;
  create function public.who() returns jsonb language sql stable as $$
    select jsonb_build_object(
      'uid', auth.uid(), 'session', session_user, 'current', current_user, 'claims', auth.jwt(),
      'path', current_setting('search_path'),
      'letters', (select coalesce(jsonb_agg(body), '[]') from letters))
  $$;
  create function public.write(p_body text) returns text language sql volatile as $$
    insert into public.letters (body) values (p_body) returning body
  $$;
  revoke all on function public.look_up, public.run, public.read_only_run, public.who, public.write, public.leave, public.leave_table
    from public;
  grant execute on function public.look_up, public.run, public.read_only_run, public.who, public.write, public.leave, public.leave_table
    to authenticated;
`;

/** Settings that stop or change the statements of everyone else in a shared session. */
const HARMFUL_SETTINGS = [
  ["statement_timeout", "1"],
  ["lock_timeout", "1"],
  ["default_transaction_read_only", "on"],
  ["default_transaction_isolation", "serializable"],
  ["row_security", "off"],
  ["search_path", ""],
  ["DateStyle", "German"],
  ["standard_conforming_strings", "off"],
  ["work_mem", "64kB"],
] as const;

/** Statements that leave something else in the session than a setting. */
const LEFTOVERS = [
  "listen left_behind",
  "unlisten *",
  "prepare left_behind as select 1",
  "select pg_advisory_lock(77)",
  "select pg_advisory_lock_shared(77)",
  "create temp table left_behind as select 1",
  "create temp sequence left_behind",
  "declare left_behind cursor with hold for select 1",
  "set session characteristics as transaction read only",
  "set session timezone to 'Asia/Kathmandu'",
  // It does so although it fails.
  "do $$ begin perform pg_advisory_lock(77); raise 'failed'; end $$",
  "do $$ begin execute 'prepare left_behind as select 1'; raise 'failed'; end $$",
] as const;

/** What a session holds, as a text. */
const SESSION = `select concat_ws(' ',
  (select count(*) from pg_prepared_statements where from_sql),
  (select count(*) from pg_cursors where is_holdable),
  (select count(*) from pg_locks where locktype = 'advisory' and objid = 77),
  (select count(*) from pg_class where relname = 'left_behind'),
  (select coalesce(string_agg(channel, ',' order by channel), '') from pg_listening_channels() as channel),
  current_setting('timezone'), current_setting('transaction_read_only'))`;

/** Sets a setting of the session when the transaction ends. */
const DEFERRED_TRIGGER = `
  create function public.set_late() returns trigger language plpgsql as $$
    begin
      perform set_config('statement_timeout', '7ms', false);
      return null;
    end
  $$;
  create constraint trigger late after insert on public.letters deferrable initially deferred
    for each row execute function public.set_late();
`;

/** Checks code that runs as a caller, with its own login, against everything that it could try. */
export async function callerLoginSteps(
  t: Deno.TestContext,
  db: "pglite" | "native",
): Promise<void> {
  const fixture = await openToolFixture({ db });
  try {
    const { sql } = fixture;
    await sql.unsafe(FUNCTIONS);
    await sql`select vault.create_secret(${SECRET}, 'CANARY')`;
    const calls = await prepare(fixture);

    for (const role of ["none", "postgres", "service_role", "supabase_admin", "authenticator"]) {
      await t.step(`a function cannot set the role ${role}`, async () => {
        const user = await calls.newUser();
        const answers = [
          await calls.call(user, "look_up", { p_setting: "role", p_value: role }),
          await calls.call(user, "run", { p_statement: climb(role) }),
          await calls.call(user, "read_only_run", { p_statement: climb(role) }),
          await calls.call(user, "run", { p_statement: `set role ${role}` }),
        ];

        for (const answer of answers) assertRefused(answer);
      });
    }

    await t.step("it cannot set the session's login either", async () => {
      const user = await calls.newUser();
      for (const value of ["postgres", "default"]) {
        assertRefused(
          await calls.call(user, "look_up", { p_setting: "session_authorization", p_value: value }),
        );
      }
      assertRefused(await calls.call(user, "run", { p_statement: "reset session authorization" }));
      assertRefused(await calls.call(user, "run", { p_statement: "reset role" }));
    });

    await t.step("a function that reads and writes as its caller still works", async () => {
      const [ann, bob] = [await calls.newUser(), await calls.newUser()];

      assert.equal(structured(await calls.call(ann, "write", { p_body: "ann's" })), "ann's");
      assert.equal(structured(await calls.call(bob, "write", { p_body: "bob's" })), "bob's");

      const who = structured(await calls.call(ann, "who", {})) as JsonObject;
      assert.deepEqual(who.letters, ["ann's"]);
      assert.equal(who.uid, ann.userId);
      assert.equal(who.current, "authenticated");
      assert.equal(who.path, "public, extensions");
      if (db === "native") assert.equal(who.session, "supaswarm_caller");
    });

    await t.step("state that a call leaves behind does not reach another caller", async () => {
      const [ann, bob] = [await calls.newUser(), await calls.newUser()];
      const leftovers = [
        `select set_config('request.jwt.claim.sub', '${bob.userId}', false)`,
        `select set_config('search_path', 'pg_temp', false)`,
      ];
      for (const statement of leftovers) {
        const left = await calls.call(ann, "run", { p_statement: statement });
        assert.ok(left.kind === "answered");
        await calls.call(ann, "read_only_run", { p_statement: statement });
      }
      structured(await calls.call(ann, "leave_table", {}));

      const who = structured(await calls.call(bob, "who", {})) as JsonObject;
      assert.equal(who.uid, bob.userId);
      assert.equal(who.path, "public, extensions");
      assert.deepEqual(who.letters, []);
      const again = structured(await calls.call(ann, "who", {})) as JsonObject;
      assert.equal(again.uid, ann.userId);
    });

    for (const [setting, value] of HARMFUL_SETTINGS) {
      await t.step(
        `a function that sets ${setting} does not disturb the calls of others`,
        async () => {
          const [ann, bob] = [await calls.newUser(), await calls.newUser()];
          const [before] = await sql`select current_setting(${setting}) as value`;
          const left = await calls.call(ann, "run", {
            p_statement: `select set_config('${setting}', '${value}', false)`,
          });
          assert.equal(left.kind, "answered");

          const written = await calls.call(bob, "write", { p_body: setting });
          const [after] = await sql`select current_setting(${setting}) as value`;
          assert.equal(structured(written), setting);
          assert.deepEqual(after, before);
        },
      );
    }

    for (const statement of LEFTOVERS) {
      await t.step(`eight calls of others succeed and see nothing of: ${statement}`, async () => {
        const [ann, bob] = [await calls.newUser(), await calls.newUser()];
        const look = () => calls.call(bob, "run", { p_statement: SESSION });
        const before = structured(await look());

        await calls.call(ann, "leave", { p_statement: statement });
        await calls.call(ann, "read_only_run", { p_statement: statement });

        for (let call = 0; call < 8; call++) assert.equal(structured(await look()), before);
        const [held] = await sql`
          select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = 77`;
        assert.equal(held?.count, 0);
      });
    }

    await t.step("a deferred trigger cannot leave a setting behind either", async () => {
      const [ann, bob] = [await calls.newUser(), await calls.newUser()];
      await sql.unsafe(DEFERRED_TRIGGER);

      await calls.call(ann, "write", { p_body: "sets the timeout at the end" });
      const written = await calls.call(bob, "who", {});
      const [after] = await sql`select current_setting('statement_timeout') as value`;
      await sql`drop trigger late on public.letters`;

      assert.equal((structured(written) as JsonObject).uid, bob.userId);
      assert.notEqual(after?.value, "7ms");
    });

    await t.step("all verified claims arrive, but none of our own from a token", async () => {
      const user = await calls.newUser();
      const tokenClaims = {
        sub: "someone else",
        role: "service_role",
        aal: "aal2",
        app_metadata: { tenant: "north" },
        supaswarm_actor: "service",
        supaswarm_task_id: crypto.randomUUID(),
      };

      const who = structured(await calls.call({ ...user, tokenClaims }, "who", {})) as JsonObject;

      assert.deepEqual(who.claims, {
        sub: user.userId,
        role: "authenticated",
        aal: "aal2",
        app_metadata: { tenant: "north" },
        supaswarm_actor: "user",
      });
    });

    await t.step("a call without a token has the claims of the account", async () => {
      const user = await calls.newUser();
      await sql`
        update auth.users set raw_app_meta_data = '{"tenant": "south"}' where id = ${user.userId}`;

      const { claims } = structured(await calls.call(user, "who", {})) as JsonObject;

      const { sub, role, email, app_metadata, aal = null, session_id = null } =
        claims as JsonObject;
      assert.deepEqual({ sub, role, email, app_metadata, aal, session_id }, {
        sub: user.userId,
        role: "authenticated",
        email: `${user.userId}@example.com`,
        app_metadata: { tenant: "south" },
        aal: null,
        session_id: null,
      });
    });

    await t.step("a renewed login takes effect, even on open connections", async () => {
      const user = await calls.newUser();
      await calls.call(user, "who", {});
      await sql`select private.renew_caller_login()`;
      await calls.call(user, "write", { p_body: "ends its connection" });

      assert.deepEqual(
        (structured(await calls.call(user, "who", {})) as JsonObject).letters,
        ["ends its connection"],
      );
    });
  } finally {
    await fixture.stop();
  }
}

function climb(role: string): string {
  return `select set_config('role', '${role}', true) || ':' ||
    (xpath('//text()', query_to_xml('select decrypted_secret from vault.decrypted_secrets', true, false, '')))::text`;
}

function structured(outcome: ToolCallOutcome): unknown {
  assert.ok(outcome.kind === "answered" && !outcome.isError, JSON.stringify(outcome));
  return outcome.structured;
}

function assertRefused(outcome: ToolCallOutcome): void {
  assert.ok(outcome.kind === "answered" && outcome.isError, JSON.stringify(outcome));
  assert.doesNotMatch(JSON.stringify(outcome), new RegExp(SECRET));
  assert.equal(outcome.errorCode, "TOOL_FORBIDDEN", outcome.text);
}

/** Registers the functions as tools that every user may call. */
async function prepare({ sql, gateway, createTool, createUser }: ToolFixture) {
  const slugs = new Map<string, string>();
  for (const name of ["look_up", "run", "read_only_run", "who", "write", "leave", "leave_table"]) {
    const id = await createTool({ type: "supabase_rpc", config: { function: `public.${name}` } });
    const [tool] = await sql<{ slug: string }[]>`select slug from public.tools where id = ${id}`;
    slugs.set(name, tool?.slug ?? "");
    await sql`select public.grant_scopes(null, array[${`mcp:${tool?.slug}`}])`;
  }
  return {
    newUser: async () => userCaller(await createUser()),
    async call(caller: ToolCaller, name: string, args: JsonObject): Promise<ToolCallOutcome> {
      const tool = { server: slugs.get(name) ?? "", toolName: name };
      const call = callOf({ ...tool } as Parameters<typeof callOf>[0], caller, args);
      return await gateway.call(call, noAbort());
    },
  };
}

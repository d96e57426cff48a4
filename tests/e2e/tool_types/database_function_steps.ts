import assert from "node:assert/strict";
import { waitFor } from "../../../scripts/wait_for.ts";
import { addTool } from "../operator.ts";
import { call, completeWithResults } from "../script.ts";
import { runJob, runLostWrite, type ToolStage } from "./tool_jobs.ts";

/** An operator's own table and functions; `e2e_pace` slows `e2e_add` down. */
const FUNCTIONS = `
  create table public.e2e_notes (owner uuid not null default auth.uid(), body text not null);
  alter table public.e2e_notes enable row level security;
  create policy "own" on public.e2e_notes for select to authenticated
    using (owner = (select auth.uid()));
  create policy "own and not secret" on public.e2e_notes for insert to authenticated
    with check (owner = (select auth.uid()) and body <> 'secret');
  grant select, insert on public.e2e_notes to authenticated;

  create table public.e2e_pace (seconds float not null);
  alter table public.e2e_pace enable row level security;
  create policy "known" on public.e2e_pace for select to authenticated using (true);
  grant select on public.e2e_pace to authenticated;
  insert into public.e2e_pace values (0);

  create function public.e2e_add(p_body text) returns text language plpgsql as $$
  begin
    insert into public.e2e_notes (body) values (p_body);
    perform pg_sleep(seconds) from public.e2e_pace;
    return current_user || ' added ' || p_body;
  end $$;
  create function public.e2e_list() returns setof text language sql stable
    as 'select body from public.e2e_notes';
  create function public.e2e_hidden() returns int language sql as 'select 1';
  revoke execute on function public.e2e_hidden from public, authenticated;
  grant execute on function public.e2e_add, public.e2e_list to authenticated;
`;

/** Tests tools of type `supabase_rpc` that are database functions. */
export async function databaseFunctionSteps(t: Deno.TestContext, stage: ToolStage): Promise<void> {
  const { sql } = stage.platform;
  await sql.unsafe(FUNCTIONS);
  const grants = {
    add: await grant("e2e_add"),
    list: await grant("e2e_list"),
    hidden: await grant("e2e_hidden"),
  };

  async function grant(name: string) {
    const id = await addTool(sql, {
      slug: name.replace("_", "-"),
      type: "supabase_rpc",
      config: { function: `public.${name}`, timeout_ms: 300 },
    });
    return { id };
  }

  await t.step("supabase_rpc: a database function runs as the owner, under RLS", async () => {
    await sql`insert into public.e2e_notes values (${crypto.randomUUID()}, 'a stranger''s')`;

    const { task, executions } = await runJob(stage, {
      tools: [grants.add, grants.list],
      turns: [
        call("e2e-add__e2e_add", { p_body: "mine" }),
        call("e2e-list__e2e_list"),
        completeWithResults,
      ],
    });

    assert.match(JSON.stringify(task.output), /mine/);
    assert.doesNotMatch(JSON.stringify(task.output), /stranger/);
    assert.deepEqual(
      executions.map(({ mcp_name, status, user_id }) => [mcp_name, status, user_id]),
      [["e2e-add", "success", stage.userId], ["e2e-list", "success", stage.userId]],
    );
  });

  await t.step("supabase_rpc: a policy, a missing right or a missing user refuses", async () => {
    const job = {
      tools: [grants.add, grants.hidden],
      turns: [{
        toolCalls: [
          { name: "e2e-add__e2e_add", arguments: { p_body: "secret" } },
          { name: "e2e-hidden__e2e_hidden", arguments: {} },
        ],
      }, completeWithResults],
    } as const;

    const owned = await runJob(stage, job);
    const service = await runJob(stage, { ...job, as: "service" });

    assert.match(JSON.stringify(owned.task.output), /row-level security/);
    const codes = (calls: typeof owned.calls) => calls.map(({ output }) => output.error_code);
    assert.deepEqual(codes(owned.calls), ["TOOL_FORBIDDEN", "TOOL_FORBIDDEN"]);
    assert.deepEqual(codes(service.calls), ["CALLER_REQUIRED", "CALLER_REQUIRED"]);
    const [row] = await sql`select from public.e2e_notes where body = 'secret'`;
    assert.equal(row, undefined);
  });

  await t.step("supabase_rpc: a writing function without an answer asks a person", async () => {
    const countNotes = async () => {
      const rows = await sql`select from public.e2e_notes where body = 'once'`;
      return rows.length;
    };
    await sql`update public.e2e_pace set seconds = 2`;

    await runLostWrite(stage, {
      tools: [grants.add],
      turns: [call("e2e-add__e2e_add", { p_body: "once" }), completeWithResults],
    }, async () => {
      await waitFor(async () => await countNotes() > 0);
      return await countNotes();
    });
  });
}

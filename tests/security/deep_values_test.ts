import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { MAX_JSON_DEPTH } from "../../shared/platform/values/json_depth.ts";
import { created, refused, sendRequest } from "../e2e/create_task_endpoint.ts";
import { addAgent } from "../e2e/operator.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";

const SLUG = "deep-values";
const HEAVY_JOBS = 12;

const lists = (levels: number, content = "") => "[".repeat(levels) + content + "]".repeat(levels);
/** An object with one level more than a value may have. */
const TOO_DEEP = `{"a":${lists(MAX_JSON_DEPTH)}}`;
/** 98 KB: in lines, they would be 19 MB below 190 lists, and 6 MB below as many as there may be. */
const zeros = (levels: number) => lists(levels, Array(49_000).fill(0).join());

/** The arguments of each database function that takes documents, with one that is too deep. */
const CALLS: Readonly<Record<string, { readonly args: string; readonly code: string }>> = {
  continue_task: { args: `"p_task_id":$job,"p_input":${TOO_DEEP}`, code: "TASK_INPUT_INVALID" },
  fork_task: {
    args: `"p_task_id":$job,"p_from_seq":1,"p_changes":{"input":${TOO_DEEP}}`,
    code: "TASK_INPUT_INVALID",
  },
  job_counts: { args: `"p_filters":{"agent":${TOO_DEEP}}`, code: "QUERY_INVALID" },
  list_jobs: { args: `"p_filters":{"agent":${TOO_DEEP}}`, code: "QUERY_INVALID" },
  operator_acknowledge_problems: {
    args: `"p_problems":[${TOO_DEEP}],"p_reason":"Known"`,
    code: "QUERY_INVALID",
  },
  operator_failure_groups: { args: `"p_filters":{"agent":${TOO_DEEP}}`, code: "QUERY_INVALID" },
  operator_job_counts: { args: `"p_filters":{"agent":${TOO_DEEP}}`, code: "QUERY_INVALID" },
  operator_list_jobs: { args: `"p_filters":{"agent":${TOO_DEEP}}`, code: "QUERY_INVALID" },
  operator_save_definition: {
    args: `"p_kind":"server","p_slug":"deep","p_definition":{"config":${TOO_DEEP}}`,
    code: "DEFINITION_INVALID",
  },
  operator_sync_servers: {
    args: `"p_servers":{"deep":{"config":${TOO_DEEP}}},"p_is_dry_run":true`,
    code: "DEFINITION_INVALID",
  },
  read_trace: { args: `"p_master_task_id":$job,"p_after":${TOO_DEEP}`, code: "QUERY_INVALID" },
  respond_to_review: {
    args: `"p_task_id":$job,"p_approved":true,"p_response":${TOO_DEEP}`,
    code: "REVIEW_ANSWER_INVALID",
  },
  search_trace: {
    args: `"p_master_task_id":$job,"p_text":"a","p_after":${TOO_DEEP}`,
    code: "QUERY_INVALID",
  },
  set_approval: {
    args: `"p_agent":"${SLUG}","p_tool":null,"p_ask":"when","p_conditions":[{"argument":"/a",` +
      `"operator":"equals","value":${TOO_DEEP}}]`,
    code: "APPROVAL_RULE_INVALID",
  },
  signal_task: {
    args: `"p_task_id":$job,"p_name":"go","p_data":${TOO_DEEP}`,
    code: "SIGNAL_INVALID",
  },
};

Deno.test("values of more than 64 levels are refused, and the deepest others do not grow", async (t) => {
  await using platform = await sharedPlatform();
  const { sql, project, stack } = platform;
  await addAgent(sql, { slug: SLUG });
  stack.models.addAgent(scriptTurns(SLUG, complete("done")));
  const [heavy, stranger] = [await platform.addUser("heavy"), await platform.addUser("stranger")];
  await grantScopes(sql, heavy.id, ["admin:*"]);
  const create = (user: typeof heavy, input: string) =>
    sendRequest(project, { body: `{"agent":"${SLUG}","input":${input}}`, headers: user.headers });
  const ended = (id: string) =>
    waitFor(async () => {
      const [task] = await sql<{ status: string; deliveries: number; attempts: number }[]>`
        select status, deliveries, attempts from public.tasks
        where id = ${id} and finished_at is not null`;
      return task;
    });

  await t.step("by every function of the database that takes documents", async () => {
    const job = created(await create(heavy, '"a"')).task_id;
    await ended(job);
    const found = await sql<{ name: string }[]>`
      select proname as name from pg_proc as function
      where pronamespace = 'public'::regnamespace and 'jsonb'::regtype = any (proargtypes)
        and has_function_privilege('authenticated', function.oid, 'execute')
        and not exists (select from pg_depend where objid = function.oid and deptype = 'e')
      order by 1`;
    assert.deepEqual(found.map(({ name }) => name), Object.keys(CALLS).sort());

    const codes: Record<string, string> = {};
    for (const [name, { args }] of Object.entries(CALLS)) {
      const response = await fetch(`${project.apiUrl}/rest/v1/rpc/${name}`, {
        method: "POST",
        headers: { ...heavy.headers, "content-type": "application/json" },
        body: `{${args.replace("$job", JSON.stringify(job))}}`,
      });
      codes[name] = (await response.json()).details;
    }
    assert.deepEqual(
      codes,
      Object.fromEntries(
        Object.entries(CALLS).map(([name, { code }]) => [name, code]),
      ),
    );
  });

  await t.step("by every endpoint that takes values", async () => {
    for (const levels of [MAX_JSON_DEPTH, 190]) {
      assert.equal(refused(await create(heavy, `{"a":${lists(levels)}}`)).code, "BODY_INVALID");
    }
    assert.equal((await create(heavy, `{"a":${lists(MAX_JSON_DEPTH - 1)}}`)).status, 201);
    const bodies: Readonly<Record<string, string>> = {
      "mcp-execute": `{"server":"swarm","tool_name":"list_jobs","parameters":${TOO_DEEP}}`,
      [`supaswarm-chat/${SLUG}`]:
        `{"id":"a","messages":[{"id":"m","role":"user","parts":[${TOO_DEEP}]}]}`,
      "mcp": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":` +
        `${TOO_DEEP}}}`,
    };
    for (const [name, body] of Object.entries(bodies)) {
      const endpoint = `/functions/v1/${name}`;
      const answer = await sendRequest(project, { endpoint, body, headers: heavy.headers });
      assert.match(JSON.stringify(answer.body), /levels of nesting/, name);
    }
  });

  await t.step("twelve jobs with deep and wide inputs do not hold up a stranger's", async () => {
    const input = `{"a":${zeros(MAX_JSON_DEPTH - 1)}}`;
    const jobs = await Promise.all(
      Array.from({ length: HEAVY_JOBS }, async () => created(await create(heavy, input)).task_id),
    );
    const others = created(await create(stranger, '"Hello"')).task_id;

    for (const id of [others, ...jobs]) {
      assert.deepEqual(await ended(id), { status: "completed", deliveries: 1, attempts: 0 });
    }
  });
});

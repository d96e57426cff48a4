import assert from "node:assert/strict";
import { z } from "../../../shared/vendor/zod.js";
import {
  createExportStore,
  type ExportStore,
} from "../../../shared/gateway/feedback/export_store.ts";
import { type ExportFile, runExport } from "../../../shared/gateway/feedback/run_export.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { refused, sendRequest } from "../../e2e/create_task_endpoint.ts";
import { addTool } from "../../e2e/operator.ts";
import { startExternalServer } from "./external_server.ts";
import { grantScopes, type McpPlatform } from "./mcp_platform.ts";
import { sharedPlatform } from "./shared_platform.ts";
import { parseCsv } from "./parse_csv.ts";

const EXECUTE = "/functions/v1/mcp-execute";
const FEEDBACK = "/functions/v1/mcp-feedback";
const EXPORT = "/functions/v1/supaswarm-export";
const BUCKET = "supaswarm-exports";

const trail = z.looseObject({ feedback_token: z.guid(), execution_id: z.guid() });
const gradeSchema = z.object({
  feedback_token: z.guid(),
  execution_id: z.guid(),
  rating: z.string().nullable(),
  rating_score: z.number().nullable(),
  comment: z.string().nullable(),
  changeable_until: z.iso.datetime(),
});
const exportedSchema = z.object({
  bucket: z.literal(BUCKET),
  files: z.array(z.object({ path: z.string(), row_count: z.number() })),
});

Deno.test("tool calls are graded, and grades and failures are exported", async (t) => {
  await using external = await startExternalServer();
  await using platform = await sharedPlatform();
  const { sql, project, stack } = platform;
  await addTool(sql, { slug: "albums", type: "mcp_server", config: { mcp_url: external.url } });
  const ada = await platform.addUser("ada");
  const bob = await platform.addUser("bob");
  await grantScopes(sql, ada.id, ["mcp:albums"]);
  const service = { apikey: stack.secretKey };
  type Headers = Readonly<Record<string, string>>;
  const send = (endpoint: string, body: unknown, headers: Headers) =>
    sendRequest(project, { endpoint, body, headers });
  const picture = (of: string) => ({ server: "albums", tool_name: "picture", parameters: { of } });
  const tokenOf = async (body: unknown, headers: Headers) => {
    const answer = await send(EXECUTE, body, headers);
    const read = z.union([
      z.looseObject({ _meta: trail }).transform(({ _meta }) => _meta),
      z.looseObject({ error: z.looseObject({ details: trail }) })
        .transform(({ error }) => error.details),
    ]).parse(answer.body);
    return read.feedback_token;
  };
  const grade = (body: Record<string, unknown>, headers: Headers = ada.headers) =>
    send(FEEDBACK, body, headers);

  await t.step("every answer has a token, including errors and refusals", async () => {
    const bodies = [
      picture("cat"),
      { ...picture("cat"), parameters: { of: 7 } },
      { ...picture("cat"), tool_name: "fail", parameters: {} },
      { ...picture("cat"), tool_name: "pictur" },
      { ...picture("cat"), server: "swarm", tool_name: "list_agents" },
    ];
    for (const body of bodies) {
      const answer = await grade({
        feedback_token: await tokenOf(body, ada.headers),
        rating: "up",
      });

      assert.equal(answer.status, 200, JSON.stringify([body, answer.body]));
    }
  });

  await t.step("a call that its rate limit refused can be graded too", async () => {
    await sql`
      insert into public.mcp_policies (mcp_name, tool_name, calls_per_minute, burst_calls)
      values ('albums', 'region', 1, 1)`;
    const region = { server: "albums", tool_name: "region", parameters: { region: "eu" } };
    await send(EXECUTE, region, ada.headers);

    const token = await tokenOf(region, ada.headers);

    assert.equal((await grade({ feedback_token: token, rating: "down" })).status, 200);
  });

  await t.step("a grade accepts both ratings and a comment, together or separately", async () => {
    const feedback_token = await tokenOf(picture("dog"), ada.headers);
    await grade({ feedback_token, rating: "up" });
    const answer = await grade({ feedback_token, rating_score: 4, comment: " Nice ears\n" });

    const { changeable_until, ...rest } = gradeSchema.parse(answer.body);
    const [row] = await sql`
      select execution_id::text, user_id::text, rating, rating_score, comment
      from public.mcp_feedback where feedback_token = ${feedback_token}::uuid`;
    assert.deepEqual({ ...rest, user_id: ada.id }, { feedback_token, ...row });
    assert.deepEqual([rest.rating, rest.rating_score, rest.comment], ["up", 4, "Nice ears"]);
    const hoursLeft = (Date.parse(changeable_until) - Date.now()) / 3_600_000;
    assert.ok(hoursLeft > 23 && hoursLeft <= 24, changeable_until);
  });

  await t.step("concurrent grades of one call create one row", async () => {
    const feedback_token = await tokenOf(picture("bee"), ada.headers);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((rating_score) => grade({ feedback_token, rating_score })),
    );

    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 200]);
    const rows = await sql`
      select id from public.mcp_feedback where feedback_token = ${feedback_token}::uuid`;
    assert.equal(rows.length, 1);
  });

  await t.step("another user's token is as unknown as an invented one", async () => {
    const adas = await tokenOf(picture("ant"), ada.headers);
    const services = await tokenOf(picture("ant"), service);
    const cases = [
      [adas, bob.headers],
      [adas, service],
      [services, ada.headers],
      [crypto.randomUUID(), ada.headers],
    ] as const;
    for (const [feedback_token, headers] of cases) {
      const answer = await grade({ feedback_token, rating: "down" }, headers);

      assert.deepEqual([answer.status, refused(answer).code], [404, "FEEDBACK_TOKEN_NOT_FOUND"]);
    }
    const own = await grade({ feedback_token: services, rating: "down" }, service);
    assert.equal(own.status, 200, "the service grades its own call");
  });

  await t.step("a secret key grades a call on behalf of a user as that user", async () => {
    const called = { ...picture("owl"), on_behalf_of: ada.id };
    const feedback_token = await tokenOf(called, service);

    const alone = await grade({ feedback_token, rating: "up" }, service);
    const asBob = await grade({ feedback_token, rating: "up", on_behalf_of: bob.id }, service);
    const asAda = await grade({ feedback_token, rating: "up", on_behalf_of: ada.id }, service);
    const passing = await grade({ feedback_token, rating: "up", on_behalf_of: ada.id });

    assert.deepEqual([alone.status, asBob.status, asAda.status], [404, 404, 200]);
    assert.deepEqual([passing.status, refused(passing).code], [403, "FORBIDDEN"]);
    const [row] = await sql`
      select user_id::text from public.mcp_feedback where feedback_token = ${feedback_token}::uuid`;
    assert.equal(row?.user_id, ada.id);
  });

  await t.step("users read only their own grades", async () => {
    const own = await ada.user.client.from("mcp_feedback").select("user_id");
    const others = await bob.user.client.from("mcp_feedback").select("user_id");

    assert.ok(own.data !== null && own.data.length > 0);
    assert.ok(own.data.every(({ user_id }) => user_id === ada.id));
    assert.deepEqual(others.data, []);
  });

  await t.step("invalid grades and unknown callers are refused", async () => {
    const feedback_token = await tokenOf(picture("elk"), ada.headers);
    const up = { feedback_token, rating: "up" };
    const cases: readonly (readonly [unknown, Headers, number, string, RegExp])[] = [
      ["", ada.headers, 400, "BODY_INVALID", /empty/],
      [{ rating: "up" }, ada.headers, 400, "BODY_INVALID", /feedback_token/],
      [{ ...up, feedback_token: "7" }, ada.headers, 400, "BODY_INVALID", /feedback_token/],
      [{ feedback_token }, ada.headers, 400, "BODY_INVALID", /rating_score or a comment/],
      [{ ...up, rating: "sideways" }, ada.headers, 400, "BODY_INVALID", /rating/],
      [{ ...up, rating_score: 0 }, ada.headers, 400, "BODY_INVALID", /rating_score/],
      [{ ...up, rating_score: 4.5 }, ada.headers, 400, "BODY_INVALID", /rating_score/],
      [{ ...up, comment: "x".repeat(2_001) }, ada.headers, 400, "BODY_INVALID", /2000/],
      [{ ...up, comment: "  " }, ada.headers, 400, "BODY_INVALID", /comment/],
      [{ ...up, user_id: bob.id }, ada.headers, 400, "BODY_INVALID", /user_id/],
      [up, { apikey: project.publishableKey }, 401, "UNAUTHORIZED", /./],
      [up, {}, 401, "UNAUTHORIZED", /./],
    ];
    for (const [body, headers, status, code, mention] of cases) {
      const answer = await send(FEEDBACK, body, headers);

      assert.deepEqual([answer.status, refused(answer).code], [status, code], JSON.stringify(body));
      assert.match(JSON.stringify(answer.body), mention);
    }
    const longest = await grade({ ...up, comment: "😀".repeat(2_000) });
    assert.equal(longest.status, 200, JSON.stringify(longest.body));
    const read = await sendRequest(project, {
      endpoint: FEEDBACK,
      method: "GET",
      headers: ada.headers,
    });
    assert.deepEqual([read.status, read.headers.get("allow")], [405, "POST"]);
  });

  await t.step("a grade cannot be changed a day after the first one", async () => {
    const feedback_token = await tokenOf(picture("owl"), ada.headers);
    await grade({ feedback_token, rating: "up" });
    await sql`
      update public.mcp_feedback set created_at = now() - interval '25 hours'
      where feedback_token = ${feedback_token}::uuid`;

    const answer = await grade({ feedback_token, rating: "down" });

    assert.deepEqual([answer.status, refused(answer).code], [409, "FEEDBACK_CLOSED"]);
  });

  await t.step("a secret key gets today's files on request", async () => {
    const secret = "sk-" + crypto.randomUUID().replaceAll("-", "");
    const comment = '=HYPERLINK("http://evil.example"),\r\n"quoted"';
    const feedback_token = await tokenOf(picture(secret), ada.headers);
    await grade({ feedback_token, rating: "down", rating_score: 1, comment });
    await tokenOf({ ...picture("fox"), tool_name: "fail", parameters: {} }, ada.headers);

    const answer = await send(EXPORT, {}, service);

    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const today = new Date().toISOString().slice(0, 10);
    const { files } = exportedSchema.parse(answer.body);
    const feedback = parseCsv(await download(platform, `feedback/${today}.csv`));
    const failures = parseCsv(await download(platform, `failures/${today}.csv`));
    assert.deepEqual(
      files.filter(({ path }) => path.includes(today)).map(({ row_count }) => row_count),
      [failures.length, feedback.length],
    );
    const graded = feedback.find((row) => row.comment?.includes("evil"));
    assert.equal(graded?.comment, `'${comment}`);
    assert.deepEqual(
      [graded?.rating, graded?.rating_score, graded?.tool_name, graded?.mcp_name, graded?.user_id],
      ["down", "1", "picture", "albums", ada.id],
    );
    assert.equal(graded?.arguments, '{"of":"<redacted>"}');
    const failed = failures.filter(({ mcp_name, tool_name }) =>
      mcp_name === "albums" && tool_name === "fail"
    );
    assert.ok(failed.every(({ error_message }) => error_message === "No ink left"));
    assert.ok(failed.some(({ rating }) => rating === "up"), "a failure has its grade");
    assert.ok(!JSON.stringify([feedback, failures]).includes(secret));
  });

  await t.step("only a secret key starts or reads an export", async () => {
    for (const headers of [ada.headers, {}, { "x-supaswarm-wake-token": "guess" }]) {
      const answer = await send(EXPORT, {}, headers);

      assert.deepEqual([answer.status, refused(answer).code], [401, "UNAUTHORIZED"]);
    }
    const bad = await send(EXPORT, { from: "yesterday" }, service);
    assert.deepEqual([bad.status, refused(bad).code], [400, "BODY_INVALID"]);
    const { data } = await ada.user.client.storage.from(BUCKET).list("feedback");
    assert.deepEqual(data ?? [], []);
  });

  await t.step("the database's wake-up writes the due days", async () => {
    const day = "2026-01-02";
    await sql`update public.mcp_failures set created_at = ${`${day}T12:00:00Z`}`;
    await sql`update private.exports set exported_until = private.last_day_to_export()`;
    await sql`update private.exports set exported_until = ${day} where kind = 'failures'`;
    const [token] = await sql<{ token: string }[]>`
      select decrypted_secret as token from vault.decrypted_secrets
      where name = 'supaswarm_wake_token'`;
    const headers = { "x-supaswarm-wake-token": token?.token ?? "" };

    const answers = await Promise.all([1, 2].map(() => send(EXPORT, {}, headers)));

    assert.deepEqual(answers.map(({ status, body }) => [status, body]), [[202, {}], [202, {}]]);
    await waitFor(() => platform.logLines.some((line) => line.includes("export.written")));
    assert.ok(parseCsv(await download(platform, `failures/${day}.csv`)).length > 2);
    const [{ until } = { until: "" }] = await sql<{ until: string }[]>`
      select exported_until::text as until from private.exports where kind = 'failures'`;
    assert.ok(until > day, "the progress is stored");
  });

  await t.step("a run that dies in the middle of a day is completed by the next one", async () => {
    const day = "2026-01-02";
    await sql`update private.exports set exported_until = ${day} where kind = 'failures'`;
    const store = createExportStore(sql);
    const days = (await store.listDays({})).filter(({ kind }) => kind === "failures").slice(0, 1);
    const dying: ExportStore = { ...store, readPage: () => Promise.reject(new Error("killed")) };
    const files: ExportFile[] = [];
    const writeFile = (file: ExportFile) => Promise.resolve(void files.push(file));

    await assert.rejects(runExport(days, { store: dying, writeFile }), /killed/);
    const stillDue = (await store.listDays({})).find(({ kind }) => kind === "failures");
    await runExport(days, { store, writeFile });
    await runExport(days, { store, writeFile });

    assert.equal(stillDue?.day, day);
    assert.equal(files.length, 2);
    assert.deepEqual(files[0], files[1]);
    assert.equal(files[0]?.text, await download(platform, `failures/${day}.csv`));
  });
});

async function download({ stack, project }: McpPlatform, path: string): Promise<string> {
  const answer = await fetch(`${project.apiUrl}/storage/v1/object/${BUCKET}/${path}`, {
    headers: { apikey: stack.secretKey, authorization: `Bearer ${stack.secretKey}` },
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}

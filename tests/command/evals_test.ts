import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { createSwarm } from "../../client/mod.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { addAgent, addProvider } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { call, complete, scriptTurns } from "../e2e/script.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/eval.ts", import.meta.url));

const GOOD = `
defaultTest:
  assert:
    - { type: budget, value: { max_steps: 20, max_tasks: 1 } }
tests:
  - description: publishes what a person approves
    vars: { topic: our API has webhooks }
    assert:
      - type: review
        value: { question: Publish, approved: true, comments: Go ahead. }
      - { type: contains, value: Our API has webhooks }
      - { type: regex, value: 'Try it today' }
      - type: is-json
        value: { type: object, required: [announcement, review] }
      - { type: javascript, value: 'output.review === "Go ahead." && context.vars.topic.length > 3' }
      - type: trajectory
        mode: exact
        value: [{ tool: request_human_review, arguments: { question: Publish this announcement? } }]
      - { type: sql, value: "select status = 'completed' from public.tasks where id = {{task_id}}" }
      - type: sql
        value:
          query: select approved, tasks.created_by = {{user_id}} as is_own from public.human_reviews
            join public.tasks on tasks.id = task_id where task_id = {{task_id}};
          equals: [{ approved: true, is_own: true }]
      - { type: latency, threshold: 60000 }
      - { type: cost, threshold: 1 }
  - description: keeps what a person rejects
    vars: { topic: our API has webhooks }
    assert:
      - { type: review, value: { approved: false, comments: Too short. } }
      - { type: equals, value: { announcement: null, review: Too short. } }
`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Report {
  readonly passed: boolean;
  readonly runs: readonly {
    readonly id: string;
    readonly revision: number;
    readonly model: string | null;
    readonly provider: string | null;
    readonly agent_changes: unknown;
    readonly answered_by: readonly string[] | null;
    readonly tests: readonly {
      readonly test: string;
      readonly passed: number;
      readonly total: number;
      readonly cost_micro_usd: number | null;
      readonly comparison: { readonly verdict: string } | null;
      readonly failures: readonly { readonly task_id: string; readonly reasons: string[] }[];
    }[];
  }[];
}

/** A folder with the evals of the seeded agent writer, and the command on it. */
async function openFolder(
  { stack, project }: Platform,
  variables: Readonly<Record<string, string>> = {},
) {
  const folder = await Deno.makeTempDir();
  const start = (...args: string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", SCRIPT, "--folder", folder, "--db", stack.dbUrl, ...args],
      env: {
        NO_COLOR: "1",
        SUPABASE_URL: project.apiUrl,
        SUPABASE_PUBLISHABLE_KEY: project.publishableKey,
        SUPABASE_SECRET_KEY: stack.secretKey,
        ...variables,
      },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  const ended = async (process: Deno.ChildProcess): Promise<Ended> => {
    const { code, stdout, stderr } = await process.output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  };
  return {
    write: (text: string, agent = "writer") =>
      Deno.writeTextFile(join(folder, `${agent}.evals.yaml`), text),
    read: (agent: string) => Deno.readTextFile(join(folder, `${agent}.evals.yaml`)),
    start,
    ended,
    run: (...args: string[]) => ended(start(...args)),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function reportOf({ stdout, stderr }: Ended): Report {
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

Deno.test("eval runs an agent's tests as jobs of a user, and its results are rows", async (t) => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  const { sql } = platform;
  await folder.write(GOOD);

  await t.step("all tests pass, and the exit code is 0", async () => {
    const ended = await folder.run("writer", "--repeat", "2", "--json");

    const { passed, runs: [run] } = reportOf(ended);
    assert.deepEqual(
      run?.tests.map(({ test, passed, total, failures }) => [test, passed, total, failures]),
      [["publishes what a person approves", 2, 2, []], ["keeps what a person rejects", 2, 2, []]],
    );
    assert.deepEqual([ended.code, passed], [0, true]);
    const [stored] = await sql`
      select run.agent_slug, run.finished_at is not null as is_finished,
        run.agent_revision = ${run?.revision ?? 0} as has_revision,
        count(result.task_id)::int as jobs,
        bool_and(task.metadata @> ${sql.json({ tag: `eval:${run?.id}` })}) as are_tagged,
        bool_and(task.created_by = run.created_by) as are_the_users
      from public.eval_runs as run
      join public.eval_results as result on result.run_id = run.id
      join public.tasks as task on task.id = result.task_id
      where run.id = ${run?.id ?? ""}
      group by run.id`;
    assert.deepEqual({ ...stored }, {
      agent_slug: "writer",
      is_finished: true,
      has_revision: true,
      jobs: 4,
      are_tagged: true,
      are_the_users: true,
    });
  });

  await t.step("a failing assertion ends with 1, and the report says why", async () => {
    await folder.write(GOOD.replace("Too short. } }", "Too long. } }"));

    const { code, stdout } = await folder.run();

    assert.equal(code, 1);
    assert.match(stdout, /^publishes what a person approves \| 1\/1 {4}\| 100 % \| 21 % to 100 %/m);
    assert.match(stdout, /^keeps what a person rejects +\| 0\/1 /m);
    assert.match(stdout, /^total +\| 1\/2 {4}\| 50 % /m);
    assert.match(
      stdout,
      /^failed +keeps what a person rejects, job 1 \(.{36}\): equals: the output is/m,
    );
  });

  await t.step(
    "a difference of single jobs is undecided, and the report says how many it needs",
    async () => {
      await folder.write(GOOD);
      assert.equal((await folder.run()).code, 0);
      await folder.write(GOOD.replace("Too short. } }", "Too long. } }"));

      const { stdout } = await folder.run("--against", "last");

      assert.match(stdout, /^compared with writer, revision \d+, demo of demo, run .{36}$/m);
      assert.match(
        stdout,
        /^undecided {2}keeps what a person rejects: 1\/1 before, 0\/1 now, p = 1\.0; 5 jobs a run would/m,
      );
    },
  );

  await t.step("six jobs of each run show a regression, which ends with 1", async () => {
    await folder.write(GOOD);
    const before = reportOf(await folder.run("--repeat", "6", "--json")).runs[0]?.id ?? "";
    await folder.write(GOOD.replace("Too short. } }", "Too long. } }"));

    const { code, stdout } = await folder.run("--repeat", "6", "--against", before);

    assert.equal(code, 1);
    assert.match(
      stdout,
      /^regression keeps what a person rejects: 6\/6 before, 0\/6 now, p = /m,
    );
    assert.doesNotMatch(stdout, /^(regression|undecided) +publishes/m);
  });

  await t.step(
    "a review that no assertion answers fails the test and cancels the job",
    async () => {
      await folder.write(`
tests:
  - { description: no answer, vars: { topic: x }, assert: [{ type: latency, threshold: 60000 }] }
`);

      const { code, stdout } = await folder.run("--json");

      const [failure] = reportOf({ code, stdout, stderr: "" }).runs[0]?.tests[0]?.failures ?? [];
      assert.equal(code, 1);
      assert.match(failure?.reasons[0] ?? "", /asked "Publish.*no assertion of the type review/);
      const [task] = await sql`select status from public.tasks where id = ${
        failure?.task_id ?? ""
      }`;
      assert.equal(task?.status, "cancelled");
    },
  );

  await t.step("a statement that writes changes nothing and fails its test", async () => {
    await folder.write(`
tests:
  - description: a write
    vars: { topic: x }
    assert:
      - { type: review, value: { approved: true } }
      - type: sql
        value: "with gone as (delete from public.eval_runs returning 1) select count(*) from gone"
      - { type: sql, value: "select true) as result; delete from public.eval_runs; --" }
`);

    const { code, stdout } = await folder.run("--json");

    const [failure] = reportOf({ code, stdout, stderr: "" }).runs[0]?.tests[0]?.failures ?? [];
    assert.equal(code, 1);
    assert.deepEqual(
      failure?.reasons.map((reason) => /^sql: the statement failed: /.test(reason)),
      [true, true],
    );
    const [row] = await sql`select count(*)::int as runs from public.eval_runs`;
    assert.ok(row?.runs > 4);
  });

  await t.step(
    "a reason that the database cannot store as it is does not end the run",
    async () => {
      await folder.write(`
tests:
  - description: half a character
    vars: { topic: x }
    assert:
      - { type: review, value: { approved: true } }
      - { type: javascript, value: '({ pass: false, reason: "cut \\ud83d and \\0" })' }
`);

      const ended = await folder.run("--json");

      const id = reportOf(ended).runs[0]?.id ?? "";
      const [stored] = await sql`
      select assertions -> 1 ->> 'reason' as reason from public.eval_results where run_id = ${id}`;
      assert.deepEqual([ended.code, stored?.reason], [1, "cut \uFFFD and \uFFFD"]);
    },
  );

  await t.step("a weighted threshold passes a test with a failed assertion", async () => {
    await folder.write(`
tests:
  - description: mostly
    vars: { topic: x }
    threshold: 0.75
    assert:
      - { type: review, value: { approved: true }, weight: 3 }
      - { type: contains, value: nowhere }
`);

    assert.equal((await folder.run()).code, 0);
  });
});

Deno.test("eval tests an agent with another model, which nobody else's jobs get", async (t) => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  const { sql, stack: { models } } = platform;
  const agent = `tried-${crypto.randomUUID().slice(0, 8)}`;
  const other = `${agent}-other`;
  await addAgent(sql, { slug: agent });
  await addProvider(sql, { name: other, baseUrl: `${models.url}/v1` });
  await addProvider(sql, {
    name: `${other}-keyless`,
    baseUrl: `${models.url}/v1`,
    secretName: "NOT_STORED",
  });
  await sql`
    insert into public.agent_fallbacks (agent_id, priority, provider_id, model)
    select agent.id, 1, provider.id, ${agent}
    from public.agents as agent, public.llm_providers as provider
    where agent.slug = ${agent} and provider.name = 'demo'`;
  await sql`
    insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok,
      cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
    select id, ${other}, 1000000, 1000000, 1000000
    from public.llm_providers where name = ${other}`;
  models.addAgent(scriptTurns(agent, complete("From its own model.")));
  models.addAgent(scriptTurns(other, complete("From another model.")));
  await folder.write(
    "tests: [{ description: own, vars: Go, assert: [{ type: contains, value: its own }] }]",
    agent,
  );
  const runs = (...args: string[]) => folder.run(agent, "--repeat", "6", "--json", ...args);

  await t.step("its own model passes", async () => {
    const ended = await runs();

    const [run] = reportOf(ended).runs;
    assert.deepEqual(
      [ended.code, run?.model, run?.provider, run?.agent_changes, run?.answered_by],
      [0, agent, "demo", null, [`${agent} of demo`]],
    );
  });

  await t.step(
    "another model is found by its price, answers, and shows the regression",
    async () => {
      const ended = await runs("--model", other, "--against", agent);

      const [run] = reportOf(ended).runs;
      const changes = { provider: other, model: other };
      assert.deepEqual(
        [ended.code, run?.model, run?.provider, run?.agent_changes, run?.answered_by],
        [1, other, other, changes, [`${other} of ${other}`]],
      );
      assert.equal(run?.tests[0]?.comparison?.verdict, "regression");
      assert.ok(Number(run?.tests[0]?.cost_micro_usd) > 0);
      const [stored] = await sql`
      select bool_and(task.agent_changes = run.agent_changes) as are_changed,
        bool_and(step.name = run.model) as has_steps_of_it, max(run.agent_changes::text) as changes
      from public.eval_runs as run
      join public.eval_results as result on result.run_id = run.id
      join public.tasks as task on task.id = result.task_id
      join public.task_steps as step on step.task_id = task.id and step.kind = 'model'
      where run.id = ${run?.id ?? ""}`;
      assert.deepEqual([stored?.are_changed, stored?.has_steps_of_it], [true, true]);
      assert.deepEqual(JSON.parse(stored?.changes), { ...changes, fallbacks: [] });
    },
  );

  await t.step("the agent stays as it is", async () => {
    const [row] = await sql`
      select agent.model, agent.revision from public.agents as agent where agent.slug = ${agent}`;
    assert.equal(row?.model, agent);
    assert.equal((await runs("--against", other)).code, 0);
    const { stdout } = await folder.run(agent, "--model", other, "--against", "last");
    assert.match(stdout, new RegExp(`^${agent}, .*, ${other} of ${other} in place of`, "m"));
  });

  await t.step("nothing answers in place of a model without a key", async () => {
    const ended = await folder.run(agent, "--provider", `${other}-keyless`, "--json");

    const [run] = reportOf(ended).runs;
    assert.deepEqual([ended.code, run?.model, run?.answered_by], [1, "some-model", []]);
    assert.match(run?.tests[0]?.failures[0]?.reasons[0] ?? "", /\[MODEL_KEY_MISSING\]/);
  });

  await t.step("a wrong name runs nothing", async () => {
    for (
      const [args, message] of [
        [["--provider", `${other}x`], /Did you mean/],
        [["--model", ""], /Cannot use an empty --model/],
        [["--against", "gpt-2"], /write last, .* has a finished run \(.*tried-/],
      ] as const
    ) {
      const { code, stderr } = await folder.run(agent, ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });
});

Deno.test("eval does not use an account that somebody else registered with its address", async () => {
  await using platform = await bootPlatform();
  await using folder = await openFolder(platform);
  await folder.write(GOOD);
  const { apiUrl, publishableKey } = platform.project;
  const registration = await fetch(`${apiUrl}/auth/v1/signup`, {
    method: "POST",
    headers: { apikey: publishableKey, "content-type": "application/json" },
    body: JSON.stringify({ email: "evals@supaswarm.internal", password: "correct horse battery" }),
  });
  assert.ok((await registration.json()).access_token);

  const { code, stderr } = await folder.run();

  assert.equal(code, 2);
  assert.match(stderr, /somebody else has registered this address/);
  const [row] = await platform.sql`select count(*)::int as runs from public.eval_runs`;
  assert.equal(row?.runs, 0);
});

Deno.test("eval compares the meaning of an output, and lets an agent judge it", async (t) => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  const { sql, stack: { models } } = platform;
  for (const slug of ["evals-answer", "evals-judge", "evals-mute-judge"]) {
    await addAgent(sql, { slug });
  }
  models.addAgent(scriptTurns("evals-answer", complete("Webhooks notify your server.")));
  models.addAgent(scriptTurns("evals-judge", ({ messages }) => {
    const asked = messages.map(({ text }) => text).join();
    const isPraise = asked.includes("rubric") && asked.includes("notify your server") &&
      asked.includes("It says what webhooks do.");
    return complete({ pass: isPraise, score: isPraise ? 0.9 : 0.2, reason: "As the rubric says." });
  }));
  models.addAgent(scriptTurns("evals-mute-judge", complete("No comment.")));
  const evalsWith = (...assertions: string[]) => `
defaultTest: { vars: What do webhooks do?, options: { provider: evals-judge } }
tests:
  - description: answers
    assert: [${assertions.join(", ")}]
`;

  await t.step("a similar text and a satisfied judge pass", async () => {
    await folder.write(
      evalsWith(
        "{ type: similar, value: 'Your server: webhooks notify', threshold: 0.9, provider: hash768@1 }",
        "{ type: llm-rubric, value: It says what webhooks do., threshold: 0.9 }",
      ),
      "evals-answer",
    );

    const { code, stdout } = await folder.run();

    assert.equal(code, 0, stdout);
  });

  await t.step("another text and an unsatisfied judge fail, each with its reason", async () => {
    await folder.write(
      evalsWith(
        "{ type: similar, value: 'A recipe for bread', provider: hash768@1 }",
        "{ type: llm-rubric, value: It is a poem. }",
        "{ type: llm-rubric, value: It says what webhooks do., threshold: 0.95 }",
        "{ type: llm-rubric, value: It is short., provider: evals-mute-judge }",
      ),
      "evals-answer",
    );

    const ended = await folder.run("--json");

    const [failure] = reportOf(ended).runs[0]?.tests[0]?.failures ?? [];
    assert.equal(ended.code, 1);
    for (
      const [index, reason] of [
        /^similar: the similarity is -?0\.\d+, less than 0\.75$/,
        /^llm-rubric: As the rubric says\.$/,
        /^llm-rubric: As the rubric says\. \(score 0\.9\)$/,
        /^llm-rubric: evals-mute-judge did not judge/,
      ].entries()
    ) {
      assert.match(failure?.reasons[index] ?? "", reason);
    }
  });

  await t.step("a judge that does not exist cannot judge", async () => {
    await folder.write(
      evalsWith("{ type: llm-rubric, value: short, provider: evals-nobody }"),
      "evals-answer",
    );

    const { code, stderr } = await folder.run();

    assert.equal(code, 2);
    assert.match(stderr, /evals-nobody.*\[AGENT_NOT_FOUND\]/);
  });
});

Deno.test("the jobs are those of the person who is named, who reads the run over the REST API", async () => {
  await using platform = await sharedPlatform();
  const { id, user: { client } } = await platform.addUser("evals-person");
  const password = "correct horse battery";
  await client.auth.updateUser({ password });
  const { data: { user } } = await client.auth.getUser();
  const person = { SUPASWARM_EVALS_EMAIL: user?.email ?? "", SUPASWARM_EVALS_PASSWORD: password };
  await using folder = await openFolder(platform, person);
  await folder.write(GOOD);

  const ended = await folder.run("--json");

  assert.equal(ended.code, 0, ended.stderr);
  const { data, error } = await client.from("eval_runs")
    .select("id,created_by,result_count,passed_count,eval_results(test,passed,task_id)");
  assert.equal(error, null);
  const [run] = data ?? [];
  assert.deepEqual(
    [run?.id, run?.created_by, run?.result_count, run?.passed_count, run?.eval_results.length],
    [reportOf(ended).runs[0]?.id, id, 2, 2, 2],
  );

  await using wrong = await openFolder(platform, { ...person, SUPASWARM_EVALS_PASSWORD: "wrong" });
  await wrong.write(GOOD);
  const refused = await wrong.run();
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /Cannot sign in evals-person-.*SUPASWARM_EVALS_PASSWORD/);
});

Deno.test("a job that fails, fails its test with the job's error", async () => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  await addAgent(platform.sql, { slug: "evals-failing" });
  await platform.sql`
    update public.agents set max_turns = 1 where slug = 'evals-failing'`;
  platform.stack.models.addAgent(
    scriptTurns("evals-failing", call("save_intermediate_data", { key: "a", value: 1 })),
  );
  await folder.write(
    "tests: [{ description: a, vars: x, assert: [{ type: not-contains, value: y }] }]",
    "evals-failing",
  );

  const ended = await folder.run("--json");

  const [failure] = reportOf(ended).runs[0]?.tests[0]?.failures ?? [];
  assert.match(failure?.reasons[0] ?? "", /\[TURNS_EXCEEDED\]$/);
  assert.equal(ended.code, 1);
});

Deno.test("a job that takes too long is cancelled and fails its test", async () => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  await addAgent(platform.sql, { slug: "evals-slow" });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  platform.stack.models.addAgent(scriptTurns("evals-slow", async () => {
    await released;
    return complete("Late.");
  }));
  await folder.write(
    "tests: [{ description: a, vars: x, assert: [{ type: equals, value: Late. }] }]",
    "evals-slow",
  );

  const ended = await folder.run("--timeout", "1", "--json");
  release();

  const [failure] = reportOf(ended).runs[0]?.tests[0]?.failures ?? [];
  assert.deepEqual(failure?.reasons, ["it did not end within 1 s"]);
  assert.equal(ended.code, 1);
});

Deno.test("Ctrl-C cancels the jobs, and the run stays unfinished", async (t) => {
  await using platform = await sharedPlatform();
  const { sql } = platform;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();

  /** Starts a job of a new agent, interrupts the command, and awaits that the job is cancelled. */
  async function interrupt(
    agent: string,
    variables: Readonly<Record<string, string>>,
    whenToInterrupt: () => Promise<unknown>,
    onNotice = () => {},
  ) {
    await using folder = await openFolder(platform, variables);
    await addAgent(sql, { slug: agent });
    platform.stack.models.addAgent(scriptTurns(agent, async () => {
      await released;
      return complete("Late.");
    }));
    await folder.write(
      "tests: [{ description: a, vars: x, assert: [{ type: equals, value: Late. }] }]",
      agent,
    );
    const process = folder.start();
    await whenToInterrupt();
    process.kill("SIGINT");
    let stderr = "";
    for await (const text of process.stderr.pipeThrough(new TextDecoderStream())) {
      stderr += text;
      if (stderr.includes("the jobs are cancelled")) onNotice();
    }
    assert.match(stderr, /The evals were interrupted/);
    assert.equal((await process.status).code, 2);
    await process.stdout.cancel();
    await hasJob(agent, "cancelled");
    const runs = await sql`select finished_at from public.eval_runs where agent_slug = ${agent}`;
    assert.deepEqual(runs.map(({ finished_at }) => finished_at), [null]);
  }
  const hasJob = (agent: string, status: string) =>
    waitFor(
      async () =>
        (await sql`
          select from public.tasks where agent_slug = ${agent} and status = ${status}`).length > 0,
      { what: `a job to be ${status}` },
    );

  await t.step(
    "while a job runs",
    () => interrupt("evals-stopped", {}, () => hasJob("evals-stopped", "running")),
  );

  await t.step("while the answer that a job was started is on its way", async () => {
    const started = Promise.withResolvers<void>();
    const noticed = Promise.withResolvers<void>();
    await using proxy = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (request) => {
        const { pathname, search } = new URL(request.url);
        const answer = await fetch(`${platform.project.apiUrl}${pathname}${search}`, request);
        if (!pathname.endsWith("/supaswarm-create-task")) return answer;
        started.resolve();
        await noticed.promise;
        return answer;
      },
    );
    await interrupt(
      "evals-stopped-early",
      { SUPABASE_URL: `http://127.0.0.1:${proxy.addr.port}` },
      () => started.promise,
      noticed.resolve,
    );
  });
  release();
});

Deno.test("eval add makes a test of a job, without what is sensitive, and the job's agent passes it", async (t) => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  const { user } = await platform.addUser("evals-owner");
  const swarm = createSwarm(user.client);
  const job = await swarm.run("writer", { topic: "ada@corp.example has webhooks" });
  for await (const event of job) {
    if (event.type !== "review.requested") continue;
    await job.respond(event, { approved: true, comments: "Call +49 30 1234567 first." });
  }
  await folder.write(`# Ours.\n${GOOD.trimStart()}`);

  await t.step(
    "the test has the input, the answers, the calls and the form of the output",
    async () => {
      const { code, stdout } = await folder.run("add", job.id, "--name", "from production");

      assert.equal(code, 0);
      assert.match(stdout, /^Added "from production" to .*writer\.evals\.yaml/);
      const text = await folder.read("writer");
      assert.ok(text.startsWith("# Ours.\n"));
      assert.doesNotMatch(text, /corp|1234567/);
      assert.match(text, /topic: person1@example\.com has webhooks/);
      assert.match(text, /question: Publish this announcement\?\n +approved: true/);
      assert.match(text, /type: trajectory\n +value:\n +- request_human_review\n/);
      assert.match(text, /type: is-json\n +value:\n +type: object/);
    },
  );

  await t.step("the agent passes its own test", async () => {
    const ended = await folder.run("--json");

    assert.deepEqual(
      reportOf(ended).runs[0]?.tests.map(({ test, passed }) => [test, passed]).at(-1),
      ["from production", 1],
    );
    assert.equal(ended.code, 0);
  });

  for (
    const [claim, args, message] of [
      ["the same name", ["add", job.id, "--name", "from production"], /has a test of this name/],
      ["a job that does not exist", ["add", crypto.randomUUID()], /there is no such job/],
      ["what is no id", ["add", "writer"], /write the id of one job/],
    ] as const
  ) {
    await t.step(`it refuses ${claim}`, async () => {
      const { code, stderr } = await folder.run(...args);

      assert.match(stderr, message);
      assert.equal(code, 2);
    });
  }

  await t.step("it refuses a job that its user continued", async () => {
    await job.continue("And once more");
    for await (const event of job) {
      if (event.type === "review.requested") await job.respond(event, { approved: true });
    }
    const { code, stderr } = await folder.run("add", job.id, "--name", "continued");

    assert.match(stderr, /its user continued it, and a test has one input; write the test by hand/);
    assert.equal(code, 2);
  });
});

Deno.test("eval ends with 2 and says what is wrong when it cannot run", async (t) => {
  await using platform = await sharedPlatform();
  await using folder = await openFolder(platform);
  const cases: readonly (readonly [string, string, RegExp, string[]])[] = [
    [
      "a wrong type of assertion",
      GOOD.replace("type: regex", "type: regexp"),
      /writer\.evals\.yaml:12: tests\.0\.assert\.2\.type: "regexp".*did you mean "regex"/,
      [],
    ],
    ["a missing file", GOOD, /no writr\.evals\.yaml\. Did you mean writer\?/, ["writr"]],
    ["an unknown run", GOOD, /writer has no finished run at revision 999/, ["--against", "999"]],
    ["a malformed run", GOOD, /Cannot compare with "yesterday"/, ["--against", "yesterday"]],
    ["a malformed number", GOOD, /Cannot use --repeat "many"/, ["--repeat", "many"]],
  ];
  for (const [claim, text, message, args] of cases) {
    await t.step(claim, async () => {
      await folder.write(text);

      const { code, stderr } = await folder.run(...args);

      assert.match(stderr, message);
      assert.equal(code, 2);
    });
  }

  await t.step("an agent that does not exist", async () => {
    await folder.write(GOOD, "wrier");

    const { code, stderr } = await folder.run("wrier");

    assert.match(
      stderr,
      /there is no agent "wrier" \[AGENT_NOT_FOUND\]\nDid you mean "writer"\?.*deno task push/,
    );
    assert.equal(code, 2);
  });
});

import assert from "node:assert/strict";
import { SwarmError } from "../../../shared/platform/errors/swarm_error.ts";
import { blobShaOf } from "../../../shared/servers/quoth/github/blob_sha.ts";
import { createQuotaError } from "../../../shared/servers/quoth/embedders/embedder_error.ts";
import { axis } from "./embedder_wire.ts";
import { openSharedSync } from "./shared_sync.ts";
import { EMBEDDER, filesOf, type SyncFixture } from "./sync_fixture.ts";
import { Killed, killedPorts } from "./sync_killed_ports.ts";

const FILES = { "a.md": "# A\n\nAlpha.\n", "b.md": "# B\n\nBeta.\n", "c.md": "# C\n\nGamma.\n" };

const OTHER_EMBEDDER = "hash768@test";

const onListen = () => {};

const claims: { readonly name: string; readonly run: (fixture: SyncFixture) => Promise<void> }[] =
  [];

function claim(name: string, run: (fixture: SyncFixture) => Promise<void>): void {
  claims.push({ name, run });
}

claim("a sync waits as GitHub requests, without using an attempt", async (fixture) => {
  const project = await fixture.addProject();
  const commit = await fixture.github.push("main", filesOf(FILES));
  await fixture.sendPush(project, { commit });
  const resetAt = Math.floor(Date.now() / 1_000) + 1_800;
  const answers = [
    new Response("{}", { status: 429, headers: { "retry-after": "120" } }),
    new Response("{}", {
      status: 403,
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetAt) },
    }),
  ];

  for (const [index, wantedSeconds] of [120, 1_800].entries()) {
    fixture.github.interfere = () => answers[index] ?? null;
    await fixture.drain();
    const sync = await fixture.lastSync(project);
    assert.equal(sync.status, "pending");
    assert.equal(sync.error?.code, "GITHUB_RATE_LIMITED");
    assert.equal(sync.attempts, 0);
    const waitsSeconds = sync.waits_seconds ?? 0;
    assert.ok(
      waitsSeconds > wantedSeconds / 2 && waitsSeconds <= wantedSeconds,
      `${waitsSeconds} s`,
    );
    assert.equal(await fixture.drain(), 0);
    await fixture.passTime();
  }
  fixture.github.interfere = () => null;
  await fixture.drain();

  assert.equal((await fixture.commits(project)).indexed, commit);
});

claim("a secondary rate limit without a time waits for a minute", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  fixture.github.interfere = () =>
    Response.json({ message: "You have exceeded a secondary rate limit. Please wait." }, {
      status: 403,
      headers: { "x-ratelimit-remaining": "4000" },
    });

  await fixture.drain();

  const sync = await fixture.lastSync(project);
  assert.deepEqual([sync.status, sync.error?.code, sync.attempts], [
    "pending",
    "GITHUB_RATE_LIMITED",
    0,
  ]);
  assert.ok((sync.waits_seconds ?? 0) > 50, `${sync.waits_seconds} s`);
});

claim("cron retries a first sync that failed", async (fixture) => {
  const project = await fixture.addProject();
  const commit = await fixture.github.push("main", filesOf(FILES));
  fixture.github.token = "ghp_own";
  await fixture.sendPush(project, { commit });
  await fixture.drain();
  assert.equal((await fixture.lastSync(project)).status, "failed");
  fixture.github.token = null;
  const isAsked = async () => {
    const [row] = await fixture.sql`
      select private.request_head_check(${project.id}, '10 minutes') as is_asked`;
    return row?.is_asked;
  };
  assert.equal(await isAsked(), false, "it was tried just now");

  await fixture.sql`update public.quoth_syncs set created_at = now() - interval '61 minutes'`;
  await fixture.sql`select private.quoth_tick()`;
  await fixture.drain();

  assert.equal((await fixture.commits(project)).indexed, commit);
});

claim(
  "GitHub failures are retried, and the commit counts as indexed only when complete",
  async (fixture) => {
    const project = await fixture.addProject();
    const commit = await fixture.github.push("main", filesOf(FILES));
    await fixture.sendPush(project, { commit });
    let blobs = 0;
    fixture.github.interfere = (path) =>
      path.includes("/blobs/") && ++blobs > 1 ? new Response("", { status: 502 }) : null;

    await fixture.drain();

    const waiting = await fixture.lastSync(project);
    assert.deepEqual([waiting.status, waiting.attempts], ["pending", 1]);
    assert.deepEqual(await fixture.commits(project), { indexed: null, head: commit });

    fixture.github.interfere = () => null;
    await fixture.passTime();
    await fixture.drain();

    assert.equal((await fixture.commits(project)).indexed, commit);
    assert.equal((await fixture.paths(project)).length, 3);
  },
);

claim("a blob whose bytes do not match its id is never stored", async (fixture) => {
  const project = await fixture.addProject();
  const commit = await fixture.github.push("main", filesOf(FILES));
  await fixture.sendPush(project, { commit });
  fixture.github.interfere = (path) =>
    path.includes("/blobs/") ? new Response("# Something else\n") : null;

  await fixture.drain();

  assert.deepEqual(await fixture.paths(project), []);
  assert.equal((await fixture.lastSync(project)).error?.code, "GITHUB_UNAVAILABLE");
});

for (
  const [problem, answer] of [
    ["that does not exist", () => new Response("{}", { status: 404 })],
    ["that always fails", () => new Response("", { status: 500 })],
    ["with other bytes", () => new Response("# Something else\n")],
  ] as const
) {
  claim(`a blob ${problem} fails only its own file until it can be read`, async (fixture) => {
    const project = await fixture.addProject();
    const commit = await fixture.github.push("main", filesOf(FILES));
    await fixture.sendPush(project, { commit });
    const sha = await blobShaOf(new TextEncoder().encode(FILES["a.md"]));
    fixture.github.interfere = (path) => path.endsWith(`/blobs/${sha}`) ? answer() : null;

    await fixture.drain();

    assert.deepEqual(await fixture.paths(project), ["b.md", "c.md"]);
    assert.deepEqual(await fixture.refusals(project), { "a.md": "FILE_UNAVAILABLE" });
    assert.equal((await fixture.commits(project)).indexed, commit);

    fixture.github.interfere = () => null;
    const look = async () => {
      await fixture.sql`select private.request_head_check(${project.id}, '0 seconds')`;
      await fixture.drain();
    };
    await look();
    assert.deepEqual(
      Object.keys(await fixture.refusals(project)),
      ["a.md"],
      "it was tried just now",
    );
    await fixture.sql`update public.quoth_file_errors set failed_at = now() - interval '1 hour'`;
    await look();

    assert.deepEqual(await fixture.refusals(project), {});
    assert.equal((await fixture.paths(project)).length, 3);
  });
}

claim(
  "the only blob to read is compared with unchanged files",
  async (fixture) => {
    const project = await fixture.addProject();
    await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
    await fixture.drain();
    const commit = await fixture.github.push("main", filesOf({ ...FILES, "d.md": "# D\n" }));
    await fixture.sendPush(project, { commit });
    const sha = await blobShaOf(new TextEncoder().encode("# D\n"));
    fixture.github.interfere = (path) =>
      path.endsWith(`/blobs/${sha}`) ? new Response("", { status: 500 }) : null;

    await fixture.drain();

    assert.deepEqual(await fixture.refusals(project), { "d.md": "FILE_UNAVAILABLE" });
    assert.equal((await fixture.commits(project)).indexed, commit);
  },
);

claim("a blob that succeeds at the second request costs nothing", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  const asked = new Set<string>();
  fixture.github.interfere = (path) => {
    if (!path.includes("/blobs/") || asked.has(path)) return null;
    asked.add(path);
    return new Response("", { status: 502 });
  };

  await fixture.drain();

  assert.equal((await fixture.paths(project)).length, 3);
  assert.equal((await fixture.lastSync(project)).attempts, 0);
});

claim("an unreadable repository is not blamed on a file", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  let blobs = 0;
  fixture.github.interfere = (path) => {
    if (path.includes("/blobs/")) blobs++;
    return blobs > 1 ? new Response("{}", { status: 404 }) : null;
  };

  await fixture.drain();

  const sync = await fixture.lastSync(project);
  assert.deepEqual([sync.status, sync.error?.code], ["failed", "GITHUB_NOT_FOUND"]);
  assert.deepEqual(await fixture.refusals(project), {});
});

claim(
  "a commit that a forced push removed meanwhile is replaced by the new head",
  async (fixture) => {
    const project = await fixture.addProject();
    const first = await fixture.github.push("main", filesOf({ "a.md": "# A\n" }));
    const removed = await fixture.github.push("main", filesOf(FILES));
    await fixture.sendPush(project, { commit: removed });
    fixture.github.interfere = (path) => {
      if (!path.includes("/blobs/")) return null;
      fixture.github.reset("main", first);
      return new Response("{}", { status: 404 });
    };

    await fixture.drain();

    const waiting = await fixture.lastSync(project);
    assert.deepEqual([waiting.status, waiting.commit_sha], ["pending", null]);
    assert.deepEqual(await fixture.refusals(project), {});

    fixture.github.interfere = () => null;
    await fixture.passTime();
    await fixture.drain();

    assert.deepEqual(await fixture.commits(project), { indexed: first, head: first });
  },
);

claim("the token in Vault reaches GitHub and no log", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sql`select vault.create_secret('ghp_c4n4ry', 'GITHUB_TOKEN')`;
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });

  await fixture.drain();

  assert.equal(fixture.github.lastHeaders.get("authorization"), "Bearer ghp_c4n4ry");
  assert.ok(!fixture.logged.join().includes("ghp_c4n4ry"));
  assert.equal((await fixture.lastSync(project)).status, "completed");
});

claim("a private repository is read only with its own token", async (fixture) => {
  const { github } = fixture;
  github.token = "ghp_own";
  const project = await fixture.addProject();
  const commit = await github.push("main", filesOf(FILES));
  await fixture.sendPush(project, { commit });

  await fixture.drain();
  const refused = await fixture.lastSync(project);
  await fixture.sql`select private.set_github_token(null, 'ghp_other')`;
  await fixture.sql`select private.set_github_token(${project.id}, 'ghp_own')`;
  await fixture.sendPush(project, { commit });
  await fixture.drain();

  assert.deepEqual([refused.status, refused.error?.code], ["failed", "GITHUB_NOT_FOUND"]);
  assert.equal((await fixture.commits(project)).indexed, commit);
});

claim("a branch that was reset after an abandoned sync is compared again", async (fixture) => {
  const project = await fixture.addProject();
  const first = await fixture.github.push("main", filesOf(FILES));
  await fixture.sendPush(project, { commit: first });
  await fixture.drain();
  const second = await fixture.github.push("main", filesOf({ "a.md": "# New\n", "b.md": "# B\n" }));
  await fixture.sendPush(project, { commit: second });
  let blobs = 0;
  fixture.github.interfere = (path) =>
    path.includes("/blobs/") && ++blobs > 1 ? new Response("", { status: 401 }) : null;
  await fixture.drain();
  assert.equal((await fixture.lastSync(project)).status, "failed");
  fixture.github.interfere = () => null;

  fixture.github.reset("main", first);
  await fixture.sql`update public.quoth_syncs set created_at = created_at - interval '1 hour'`;
  await fixture.sql`select private.request_head_check(${project.id}, '0 seconds')`;
  await fixture.drain();

  const clean = await fixture.addProject("clean");
  await fixture.sendPush(clean, { commit: first });
  await fixture.drain();
  assert.deepEqual(await fixture.indexOf(project), await fixture.indexOf(clean));
  assert.deepEqual(await fixture.commits(project), { indexed: first, head: first });
});

claim("a file that kills its workers is refused, and the others are indexed", async (fixture) => {
  const project = await fixture.addProject();
  const commit = await fixture.github.push("main", filesOf(FILES));
  await fixture.sendPush(project, { commit });

  for (let deaths = 0; deaths < 20; deaths++) {
    try {
      await fixture.drain({
        ports: (ports) => {
          const killed = killedPorts(ports, { atCall: 1, isAfter: false });
          const live = { ...ports, split: ports.split };
          let isDead = false;
          return {
            ...live,
            store: new Proxy(ports.store, {
              get: (store, name) =>
                isDead ? Reflect.get(killed.store, name) : Reflect.get(store, name),
            }),
            split: (source, options) => {
              if (options.filePath !== "b.md") return ports.split(source, options);
              isDead = true;
              throw new Killed();
            },
          };
        },
      });
      break;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await fixture.passTime();
    }
  }

  assert.deepEqual(await fixture.paths(project), ["a.md", "c.md"]);
  assert.deepEqual(await fixture.refusals(project), { "b.md": "FILE_UNREADABLE" });
  assert.equal((await fixture.commits(project)).indexed, commit);
});

claim("a splitter failure refuses one file, and a request retries it", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });

  await fixture.drain({
    ports: (ports) => ({
      ...ports,
      split: (source, options) =>
        options.filePath === "b.md"
          ? Promise.reject(new RangeError("Maximum call stack size exceeded"))
          : ports.split(source, options),
    }),
  });
  assert.deepEqual(await fixture.refusals(project), { "b.md": "FILE_UNREADABLE" });

  await fixture.sql`select private.request_sync(${project.slug})`;
  await fixture.drain();

  assert.deepEqual(await fixture.refusals(project), {});
  assert.equal((await fixture.paths(project)).length, 3);
});

claim(
  "a quota waits until its reset and reports when; search has the chunks meanwhile",
  async (fixture) => {
    const project = await fixture.addProject();
    const until = new Date(Date.now() + 3_600_000);
    await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });

    await fixture.drain({
      ports: (ports) => ({
        ...ports,
        embedPart: () =>
          Promise.resolve({
            vectors: [],
            wait: createQuotaError({ name: EMBEDDER, secret: null }, until, Date.now()),
          }),
      }),
    });

    const embed = (await fixture.syncs(project)).find(({ kind }) => kind === "embed");
    assert.deepEqual([embed?.status, embed?.error?.code, embed?.attempts], [
      "pending",
      "EMBEDDER_QUOTA_EXHAUSTED",
      0,
    ]);
    assert.ok(embed?.error?.message.includes(until.toISOString()));
    const waitsSeconds = embed?.waits_seconds ?? 0;
    assert.ok(waitsSeconds > 1_800 && waitsSeconds <= 3_600, `${waitsSeconds} s`);
    const [found] = await fixture.sql`
    select count(*)::int as count from private.search_documents(${project.id}, 'gamma')`;
    assert.equal(found?.count, 1);

    await fixture.passTime();
    await fixture.drain();
    const [left] = await fixture.sql`select count(*)::int as count from private.pending_embeddings`;
    assert.equal(left?.count, 0);
  },
);

claim("only the text that the embedder refuses fails", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });

  for (let tries = 0; tries < 8; tries++) {
    await fixture.drain({
      ports: (ports) => ({
        ...ports,
        embedPart: (embedder, texts, signal) => {
          if (!texts.some(({ text }) => text.includes("Beta"))) {
            return ports.embedPart(embedder, texts, signal);
          }
          throw new SwarmError("EMBEDDER_TEXT_REFUSED", "Cannot embed: it refuses the text");
        },
      }),
    });
    await fixture.passTime();
  }

  const rows = await fixture.sql`
    select document.file_path, chunk.embedding is null as is_pending
    from public.document_embeddings as chunk
    join public.documents as document on document.id = chunk.document_id
    order by document.file_path`;
  assert.deepEqual(rows.map(({ file_path, is_pending }) => [file_path, is_pending]), [
    ["a.md", false],
    ["b.md", true],
    ["c.md", false],
  ]);
  assert.ok((await fixture.syncs(project)).every(({ status }) => status === "completed"));
});

claim(
  "an embedder that refuses everything fails no text, and continues when it is fixed",
  async (fixture) => {
    let length = 3_072;
    let requests = 0;
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen },
      async (request) => {
        requests++;
        const { input } = await request.json();
        const data = input.map((_: string, index: number) => ({
          index,
          embedding: axis(1, length),
        }));
        return Response.json({ data });
      },
    );
    await fixture.sql`
      insert into public.embedders (name, api, base_url, model, model_dimensions, window_tokens, max_batch_items)
      values ('long@768', 'openai', ${`http://127.0.0.1:${server.addr.port}/v1`}, 'm', 768, 480, 2)`;
    const project = await fixture.addProject("handbook", "long@768");
    await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
    const pending = async () => {
      const [row] = await fixture.sql`
        select count(*)::int as count, max(attempts) as attempts, count(failed_at)::int as failed
        from private.pending_embeddings`;
      return { ...row };
    };

    await fixture.drain();
    await fixture.passTime();
    await fixture.drain();

    assert.deepEqual(await pending(), { count: 3, attempts: 0, failed: 0 });
    assert.equal(requests, 3, "a batch, a single text, a harmless text");
    const embed = (await fixture.syncs(project)).find(({ kind }) => kind === "embed");
    assert.deepEqual([embed?.status, embed?.error?.code], ["pending", "EMBEDDER_REFUSED"]);
    assert.match(embed?.error?.message ?? "", /have 3072 numbers, not 768; the next try is at/);

    length = 768;
    await fixture.sql`select private.request_sync(${project.slug})`;
    await fixture.drain();

    assert.equal((await pending()).count, 0);
    assert.ok((await fixture.syncs(project)).every(({ status }) => status === "completed"));
  },
);

claim("a branch that moved without a push event is found by the head check", async (fixture) => {
  const project = await fixture.addProject();
  const first = await fixture.github.push("main", filesOf(FILES));
  await fixture.sendPush(project, { commit: first });
  await fixture.drain();
  const check = () =>
    fixture.sql`select private.request_head_check(${project.id}, '0 seconds') as is_asked`;

  await check();
  const trees = fixture.github.requests.trees;
  await fixture.drain();
  assert.equal(fixture.github.requests.trees, trees, "an unchanged branch costs one request");

  const second = await fixture.github.push("main", filesOf({ "d.md": "# D\n" }));
  await check();
  await fixture.drain();

  assert.equal((await fixture.commits(project)).indexed, second);
  assert.deepEqual(await fixture.paths(project), ["d.md"]);
});

claim("cron finds it too, however many branches cannot be read", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  await fixture.drain();
  const second = await fixture.github.push("main", filesOf({ "d.md": "# D\n" }));
  await fixture.sql`
    insert into public.projects (slug, github_repo, head_commit, embedder)
    select 'gone-' || n, 'acme/gone', 'c1', ${EMBEDDER} from generate_series(1, 25) as n`;
  await fixture.sql`
    update public.projects set head_checked_at = now() - interval '61 minutes' where id = ${project.id}`;
  await fixture.sql`update public.quoth_syncs set created_at = now() - interval '61 minutes'`;

  for (let ticks = 0; ticks < 2; ticks++) {
    await fixture.sql`select private.quoth_tick()`;
    await fixture.drain();
  }

  assert.equal((await fixture.commits(project)).indexed, second);
});

claim("a project that follows another branch gets the files of that branch", async (fixture) => {
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  await fixture.drain();
  const commit = await fixture.github.push("next/v2", filesOf({ "v2.md": "# Two\n" }));
  await fixture.sql`
    update public.projects set default_branch = 'next/v2' where id = ${project.id}`;

  await fixture.sendPush(project, { commit, branch: "next/v2" });
  await fixture.drain();

  assert.deepEqual(await fixture.paths(project), ["v2.md"]);
  assert.equal((await fixture.commits(project)).indexed, commit);
});

claim("waiting pushes share one sync", async (fixture) => {
  const project = await fixture.addProject();
  for (let pushes = 0; pushes < 5; pushes++) {
    const commit = await fixture.github.push("main", filesOf({ "a.md": `# A${pushes}\n` }));
    await fixture.sendPush(project, { commit });
  }
  assert.equal((await fixture.syncs(project)).length, 1);

  await fixture.drain();

  assert.equal((await fixture.lastSync(project)).status, "completed");
});

async function addOtherEmbedder(fixture: SyncFixture): Promise<void> {
  await fixture.sql`
    insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items)
    values (${OTHER_EMBEDDER}, 'hash', 'hash', 0, 100, 8)
    on conflict (name) do nothing`;
}

claim("a switch of embedder re-embeds while the old vectors serve", async (fixture) => {
  const project = await fixture.addProject();
  await addOtherEmbedder(fixture);
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  await fixture.drain();

  await fixture.sql`
    update public.projects set next_embedder = ${OTHER_EMBEDDER} where id = ${project.id}`;
  await fixture.sql`select private.quoth_tick()`;
  await fixture.drain();

  const rows = await fixture.sql`
    select project.embedder, project.next_embedder,
      (select jsonb_agg(distinct chunk.embedder) from public.document_embeddings as chunk) as used
    from public.projects as project`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { embedder: OTHER_EMBEDDER, next_embedder: null, used: [OTHER_EMBEDDER] },
  ]);
});

claim("a switch splits as many documents as its worker has time for", async (fixture) => {
  await addOtherEmbedder(fixture);
  const project = await fixture.addProject();
  await fixture.sendPush(project, { commit: await fixture.github.push("main", filesOf(FILES)) });
  await fixture.drain();
  await fixture.sql`
    update public.projects set next_embedder = ${OTHER_EMBEDDER} where id = ${project.id}`;
  await fixture.sql`select private.quoth_tick()`;

  await fixture.drain({ cpuMs: 1 });

  const [progress] = await fixture.sql`
    select chunked_count::int from private.switch_progress(${project.id})`;
  assert.equal(progress?.chunked_count, 1);
});

claim("a switch whose workers die repeatedly continues where they ended", async (fixture) => {
  await addOtherEmbedder(fixture);
  const project = await fixture.addProject();
  const many = Array.from({ length: 20 }, (_, index) => [`f${index}.md`, `# F${index}\n`]);
  const commit = await fixture.github.push("main", filesOf(Object.fromEntries(many)));
  await fixture.sendPush(project, { commit });
  await fixture.drain();
  await fixture.sql`
    update public.projects set next_embedder = ${OTHER_EMBEDDER} where id = ${project.id}`;
  await fixture.sql`select private.quoth_tick()`;

  for (let deaths = 0; deaths < 7; deaths++) {
    const drain = fixture.drain({
      ports: (ports) => killedPorts(ports, { atCall: 10, isAfter: false }),
    });
    await assert.rejects(drain, Killed);
    await fixture.passTime();
  }
  await fixture.drain();

  assert.ok((await fixture.syncs(project)).every(({ status }) => status === "completed"));
  const [row] = await fixture.sql`select embedder from public.projects`;
  assert.equal(row?.embedder, OTHER_EMBEDDER);
});

claim(
  "a file that is renamed during a switch has its new name afterwards",
  async (fixture) => {
    await addOtherEmbedder(fixture);
    const project = await fixture.addProject();
    const push = async (files: Readonly<Record<string, string>>) => {
      const commit = await fixture.github.push("main", filesOf(files));
      await fixture.sendPush(project, { commit });
    };
    await push({ "old.md": "No heading.\n" });
    await fixture.drain();
    await fixture.sql`
    update public.projects set next_embedder = ${OTHER_EMBEDDER} where id = ${project.id}`;
    await fixture.sql`
    select private.add_chunks(document_id, content_hash, embedder, '[{"content": "No heading.",
      "embedded_text": "old", "chunk_hash": "h", "start_line": 1, "end_line": 1, "heading_path": ["old"]}]')
    from private.documents_to_chunk(${project.id}, 1)`;

    await push({ "new.md": "No heading.\n" });
    await fixture.drain();

    const rows = await fixture.sql`
    select embedder, to_jsonb(heading_path) as path from public.document_embeddings`;
    assert.deepEqual(rows.map((row) => ({ ...row })), [{
      embedder: OTHER_EMBEDDER,
      path: ["new"],
    }]);
  },
);

claim("several concurrent workers share the work, with the result of one", async (fixture) => {
  const one = await fixture.addProject("one");
  const two = await fixture.addProject("two");
  const many = Object.fromEntries(
    Array.from(
      { length: 40 },
      (_, index) => [`d/f${index}.md`, `# F${index}\n\n## S\n\nText ${index}.\n`],
    ),
  );
  const commit = await fixture.github.push("main", filesOf(many));
  await fixture.sendPush(one, { commit });
  await fixture.sendPush(two, { commit });

  await Promise.all(Array.from({ length: 4 }, () => fixture.drain({ cpuMs: 20 })));
  await fixture.passTime();
  await fixture.drain();

  assert.deepEqual(await fixture.indexOf(one), await fixture.indexOf(two));
  assert.equal((await fixture.paths(one)).length, 40);
  for (const project of [one, two]) {
    const sync = await fixture.lastSync(project);
    assert.deepEqual([sync.status, sync.written_count], ["completed", 40]);
  }
});

Deno.test("syncs survive faults", async (t) => {
  await using fixture = await openSharedSync();
  for (const { name, run } of claims) {
    await t.step(name, async () => {
      await fixture.reset();
      await run(fixture);
    });
  }
});

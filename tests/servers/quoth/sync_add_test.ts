import assert from "node:assert/strict";
import { runScript } from "../../run_script.ts";
import { openSharedSync } from "./shared_sync.ts";
import { EMBEDDER, REPO } from "./sync_fixture.ts";

const USER_ID = "0e0e0e0e-0000-4000-8000-00000000000a";

Deno.test("quoth:add adds a repository", async (t) => {
  await using fixture = await openSharedSync();
  await fixture.sql`insert into auth.users (id, email) values (${USER_ID}, 'Reader@example.org')`;

  const add = (...args: string[]) => addWith({}, ...args);
  const addWith = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    runScript("scripts/quoth_add.ts", ["--db", fixture.url, ...args], env);
  const required = ["--slug", "docs", "--repo", REPO, "--json"];

  await t.step("prints the webhook's address and secret, and requests a first sync", async () => {
    const { code, stdout } = await add(
      ...required,
      ...["--member", "reader@example.org", "--url", "https://x.supabase.co/"],
    );

    assert.equal(code, 0);
    const added = JSON.parse(stdout);
    assert.equal(added.is_new, true);
    assert.equal(added.webhook_url, "https://x.supabase.co/functions/v1/quoth-sync/docs");
    assert.match(added.webhook_secret, /^[0-9a-f]{64}$/);
    const [row] = await fixture.sql`
      select
        (select user_id from public.project_members) as member,
        (select id from public.quoth_syncs) as sync,
        (select slug from public.projects) as slug`;
    assert.deepEqual({ ...row }, { member: USER_ID, sync: added.sync_id, slug: "docs" });
  });

  await t.step(
    "a second run changes only given options, keeps the secret and adds nothing",
    async () => {
      const before = JSON.parse((await add(...required, "--no-sync")).stdout);
      const after = JSON.parse(
        (await add(...required, "--branch", "next", "--globs", "docs/**/*.{md,mdx}, !docs/old/**"))
          .stdout,
      );

      assert.equal(after.is_new, false);
      assert.equal(after.webhook_secret, before.webhook_secret);
      assert.equal(after.project_id, before.project_id);
      const [row] = await fixture.sql`
      select default_branch, to_jsonb(include_globs) as globs, language from public.projects`;
      assert.deepEqual({ ...row }, {
        default_branch: "next",
        globs: ["docs/**/*.{md,mdx}", "!docs/old/**"],
        language: "english",
      });
    },
  );

  await t.step("tokens from the environment are stored only in Vault", async () => {
    const tokens = { ACME_TOKEN: "ghp_own_c4n4ry", GITHUB_TOKEN: "ghp_default_c4n4ry" };
    const other = ["--slug", "wiki", "--repo", "acme/wiki", "--json"];

    const own = await addWith(tokens, ...required, "--token-env", "ACME_TOKEN");
    const later = await add(...required);
    const fallback = await add(...other);

    assert.deepEqual(
      [own, later, fallback].map(({ stdout }) => JSON.parse(stdout).token),
      ["own", "own", "default"],
    );
    const rows = await fixture.sql`
      select slug, private.github_token(id) as token from public.projects order by slug`;
    assert.deepEqual(rows.map((row) => ({ ...row })), [
      { slug: "docs", token: "ghp_own_c4n4ry" },
      { slug: "wiki", token: "ghp_default_c4n4ry" },
    ]);
    const [stored] = await fixture.sql`
      select jsonb_agg(to_jsonb(project))::text as text from public.projects as project`;
    for (const text of [own.stdout, own.stderr, fallback.stdout, String(stored?.text)]) {
      assert.doesNotMatch(text, /c4n4ry/);
    }

    await fixture.sql`delete from public.projects where slug = 'wiki'`;
    const secrets = await fixture.sql`
      select from vault.secrets where name like 'supaswarm/project/%'`;
    assert.equal(secrets.length, 2, "a project leaves no secret behind");
  });

  await t.step("a token on the command line is refused and not repeated", async () => {
    const { code, stderr } = await add(...required, "--token-env", "ghp_c4n4ry");

    assert.equal(code, 1);
    assert.match(stderr, /set the variable of --token-env/);
    assert.doesNotMatch(stderr, /c4n4ry/);
  });

  await t.step("reports errors in a line, and what to do in another", async () => {
    const cases: readonly [readonly string[], RegExp][] = [
      [["--slug", "No Slug", "--repo", REPO], /pass --slug/],
      [["--slug", "x", "--repo", "https://github.com/a/b"], /--repo OWNER\/NAME/],
      [["--slug", "x", "--repo", "../secrets"], /--repo OWNER\/NAME/],
      [["--slug", "x"], /either --repo .* or --folder/],
      [["--slug", "x", "--repo", REPO, "--folder", "docs"], /either --repo .* or --folder/],
      [["--slug", "x", "--folder", "no/such/folder"], /no\/such\/folder is not a folder/],
      [["--slug", "x", "--repo", REPO, "--globs", "!**"], /--globs: it matches nothing/],
      [["--slug", "x", "--repo", REPO, "--globs", "*.md,../*.md"], /'..\/\*.md' matches no path/],
      [["--slug", "x", "--repo", REPO, "--globs", "docs/{a,b"], /unbalanced bracket/],
      [["--slug", "x", "--repo", REPO, "--language", "klingon"], /no such text-search/],
      [
        ["--slug", "x", "--repo", REPO, "--embedder", "no-such"],
        /no embedder has this name.*\n.*hash768@1/,
      ],
      [["--slug", "x", "--repo", REPO, "--member", "nobody@example.org"], /no user has the email/],
    ];
    for (const [args, wanted] of cases) {
      const { code, stderr } = await add(...args);
      assert.equal(code, 1, stderr);
      assert.match(stderr, wanted);
      assert.ok(stderr.trim().split("\n").length <= 2, stderr);
    }
    const rows = await fixture.sql`select from public.projects where slug = 'x'`;
    assert.equal(rows.length, 0);
  });

  await t.step("a project cannot switch to a missing embedder", async () => {
    await add(...required, "--embedder", EMBEDDER);

    const { code, stderr } = await add(...required, "--embedder", "no-such");

    assert.equal(code, 1);
    assert.match(stderr, /no embedder has this name/);
    const [row] = await fixture.sql`select embedder, next_embedder from public.projects`;
    assert.deepEqual({ ...row }, { embedder: EMBEDDER, next_embedder: null });
  });
});

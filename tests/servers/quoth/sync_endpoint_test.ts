import assert from "node:assert/strict";
import type { App } from "../../../shared/app/app.ts";
import { createQuothSyncApp } from "../../../shared/app/quoth_sync_app.ts";
import { readConfig } from "../../../shared/platform/config/env.ts";
import type { Logger } from "../../../shared/platform/log/logger.ts";
import { waitFor } from "../../../scripts/wait_for.ts";
import { filesOf, REPO, sign, SyncFixture, type TestProject } from "./sync_fixture.ts";

const SECRET_KEY = "sb_secret_endpoint";
const SERVICE = { apikey: SECRET_KEY };
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

function openApp(fixture: SyncFixture, log: Logger = () => {}): App {
  const environment: Record<string, string> = {
    SUPABASE_URL: "http://127.0.0.1:9",
    SUPABASE_DB_URL: fixture.url,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: "sb_publishable_endpoint" }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: SECRET_KEY }),
    SUPABASE_JWKS: JSON.stringify({ keys: [] }),
    SUPASWARM_ALLOW_LOOPBACK: "true",
    SUPASWARM_GITHUB_API_URL: fixture.github.url,
    // The test and the database use the same thread.
    SUPASWARM_CPU_HARD_MS: "0",
  };
  return createQuothSyncApp(readConfig((name) => environment[name]), log);
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly sync_id?: string;
    readonly queued?: number;
    readonly ignored?: string;
    readonly error?: { readonly code: string; readonly message: string };
  };
}

Deno.test("the sync endpoint accepts pushes, files and requests", async (t) => {
  await using fixture = await SyncFixture.open();
  const project = await fixture.addProject();
  const app = openApp(fixture);

  const post = async (
    body: BodyInit,
    headers: Record<string, string>,
    path = "/quoth-sync",
  ): Promise<Answer> => {
    const response = await app.fetch(
      new Request(`http://localhost${path}`, { method: "POST", headers, body }),
    );
    const answer = await response.json();
    return { status: response.status, body: answer };
  };
  const deliver = async (payload: unknown, parts: {
    readonly event?: string;
    readonly deliveryId?: string;
    readonly secret?: string;
    readonly signature?: string;
    readonly path?: string;
    readonly contentType?: string;
  } = {}) => {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    const body = new TextEncoder().encode(text);
    return await post(body, {
      "content-type": parts.contentType ?? "application/json",
      "x-github-event": parts.event ?? "push",
      "x-github-delivery": parts.deliveryId ?? crypto.randomUUID(),
      "x-hub-signature-256": parts.signature ?? await sign(parts.secret ?? project.secret, body),
    }, parts.path);
  };
  const repository = { full_name: REPO };
  const pushOf = (parts: Record<string, unknown> = {}) => ({
    ref: "refs/heads/main",
    after: COMMIT,
    repository,
    ...parts,
  });

  try {
    await t.step("a signed push is answered 202, and indexed in the background", async () => {
      const commit = await fixture.github.push("main", filesOf({ "a.md": "# A\n\nText.\n" }));

      const { status, body } = await deliver(pushOf({ after: commit }));

      assert.equal(status, 202);
      assert.deepEqual(body, { sync_id: body.sync_id, queued: 1 });
      await untilIndexed(fixture, project, commit);
      assert.deepEqual(await fixture.paths(project), ["a.md"]);
    });

    await t.step("a repeated delivery queues nothing and names its sync", async () => {
      const deliveryId = crypto.randomUUID();
      const first = await deliver(pushOf(), { deliveryId });
      await untilQuiet(fixture);

      const second = await deliver(pushOf(), { deliveryId });

      assert.deepEqual(second.body, { sync_id: first.body.sync_id, queued: 0 });
    });

    await t.step("a delivery whose sync has failed may be repeated", async () => {
      const deliveryId = crypto.randomUUID();
      fixture.github.interfere = () => new Response("{}", { status: 401 });
      const first = await deliver(pushOf(), { deliveryId });
      await untilQuiet(fixture);
      const failed = await fixture.lastSync(project);
      assert.deepEqual([failed.status, failed.error?.code], ["failed", "GITHUB_AUTH_FAILED"]);
      fixture.github.interfere = () => null;

      const second = await deliver(pushOf(), { deliveryId });

      assert.equal(second.body.queued, 1);
      assert.notEqual(second.body.sync_id, first.body.sync_id);
      await untilQuiet(fixture);
      assert.equal((await fixture.lastSync(project)).status, "completed");
    });

    await t.step("other events and branches are ignored without an error", async () => {
      const syncs = (await fixture.syncs(project)).length;
      const ping = await deliver({ zen: "Keep it simple.", repository }, { event: "ping" });
      assert.equal(ping.status, 200);

      const ignored = [
        await deliver({ repository }, { event: "issues" }),
        await deliver(pushOf({ ref: "refs/heads/other" })),
        await deliver(pushOf({ ref: "refs/tags/main" })),
        await deliver(pushOf({ after: "0".repeat(40), deleted: true })),
      ];

      assert.deepEqual(ignored.map(({ status }) => status), [202, 202, 202, 202]);
      assert.deepEqual(ignored.map(({ body }) => body.ignored), [
        "event 'issues'",
        "branch",
        "tag",
        "deleted",
      ]);
      assert.equal((await fixture.syncs(project)).length, syncs);
    });

    await t.step(
      "a bad signature, a foreign secret and an unknown repository look the same",
      async () => {
        const other = await fixture.addProject("other");
        await fixture.sql`
        update public.projects set github_repo = 'evil/twin' where id = ${other.id}`;
        const valid = await sign(project.secret, new TextEncoder().encode("something else"));

        const refused = [
          await deliver(pushOf(), { signature: valid }),
          await deliver(pushOf(), { signature: valid.replace("sha256=", "sha1=") }),
          await deliver(pushOf(), { signature: "" }),
          await deliver(pushOf(), { secret: "" + other.secret }),
          await deliver(pushOf({ repository: { full_name: "no/body" } })),
          await deliver({ ref: "refs/heads/main" }),
        ];

        for (const { status, body } of refused) {
          assert.equal(status, 401);
          assert.deepEqual(body, refused[0]?.body);
          assert.equal(body.error?.code, "UNAUTHORIZED");
        }
      },
    );

    await t.step("the URL names the project, and only its secret is accepted there", async () => {
      const paths = [`/quoth-sync/${project.slug}`, `/functions/v1/quoth-sync/${project.id}`];
      for (const path of paths) {
        // The signature decides, not the repository in the payload.
        const renamed = pushOf({ repository: { full_name: "acme/renamed" } });
        assert.equal((await deliver(renamed, { path })).status, 202);
      }
      await untilQuiet(fixture);
      const stranger = await fixture.addProject("stranger");

      const refused = [
        await deliver(pushOf(), { path: `/quoth-sync/${stranger.slug}` }),
        await deliver(pushOf(), { path: "/quoth-sync/nobody" }),
        await deliver(pushOf(), { path: `/quoth-sync/${project.slug}/more` }),
        await deliver(pushOf(), { path: "/quoth-sync/%00" }),
      ];

      assert.deepEqual(refused.map(({ status }) => status), [401, 401, 401, 401]);
    });

    await t.step("the URL without a project accepts both content types", async () => {
      const push = pushOf({ repository: { id: 1, full_name: REPO.toUpperCase() } });
      const spaced = JSON.stringify(push, null, 2).replace("/HAND", "\\/HAND");
      const form = new URLSearchParams({ payload: JSON.stringify(push) }).toString();
      const contentType = "application/x-www-form-urlencoded";

      assert.equal((await deliver(spaced)).status, 202);
      assert.equal((await deliver(form, { contentType })).status, 202);
      await untilQuiet(fixture);
    });

    await t.step("nothing in an unsigned body is parsed", async () => {
      const name = `"full_name":"${REPO}"`;
      const worst = [
        "[".repeat(11_700_000),
        `{"repository":{${name}},"x":${"[".repeat(11_700_000)}`,
        `{${`${name},`.repeat(400_000)}"a":1}`,
      ];
      const parse = JSON.parse;
      JSON.parse = (text, reviver) => {
        assert.ok(text.length < 100_000, "an unsigned body was parsed");
        return parse(text, reviver);
      };
      try {
        for (const text of worst) {
          for (const path of ["/quoth-sync", `/quoth-sync/${project.slug}`]) {
            const forged = await deliver(text, { secret: "a guess", path });
            assert.deepEqual([forged.status, forged.body.error?.code], [401, "UNAUTHORIZED"]);
          }
        }
        const signed = await deliver(worst[1], { path: `/quoth-sync/${project.slug}` });
        assert.deepEqual([signed.status, signed.body.error?.code], [400, "BODY_INVALID"]);
      } finally {
        JSON.parse = parse;
      }
    });

    await t.step("a body of more than 25 MB is refused while it arrives", async () => {
      let sent = 0;
      const endless = new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += 1_048_576;
          controller.enqueue(new Uint8Array(1_048_576));
        },
      });
      const { status, body } = await post(endless, {
        "x-github-event": "push",
        "x-github-delivery": crypto.randomUUID(),
        "x-hub-signature-256": `sha256=${"0".repeat(64)}`,
      });

      assert.deepEqual([status, body.error?.code], [400, "BODY_INVALID"]);
      assert.ok(sent < 30 * 1_048_576, `${sent} bytes were read`);
    });

    await t.step("files sent with a secret key become documents, and are deleted", async () => {
      const sent = await post(
        JSON.stringify({
          project: project.slug,
          files: [
            { path: "notes/one.md", content: "# One\n\nFirst.\n" },
            { path: "notes/two.md", content: "# Two\n" },
          ],
        }),
        SERVICE,
      );
      assert.equal(sent.status, 202);
      assert.deepEqual(sent.body, { sync_id: sent.body.sync_id, queued: 2 });
      await untilQuiet(fixture);
      assert.deepEqual(await fixture.paths(project), ["a.md", "notes/one.md", "notes/two.md"]);

      await post(
        JSON.stringify({ project: project.id, files: [{ path: "notes/one.md", deleted: true }] }),
        SERVICE,
      );
      await untilQuiet(fixture);

      assert.deepEqual(await fixture.paths(project), ["a.md", "notes/two.md"]);
      const { indexed, head } = await fixture.commits(project);
      assert.equal(indexed, head);
    });

    await t.step("without files, the project is compared with its branch", async () => {
      const { status, body } = await post(JSON.stringify({ project: project.slug }), SERVICE);
      assert.deepEqual([status, body.queued], [202, 1]);
      await untilQuiet(fixture);

      assert.deepEqual(await fixture.paths(project), ["a.md"]);
    });

    await t.step("paths outside the project are refused", async () => {
      const syncs = (await fixture.syncs(project)).length;
      const paths = [
        "../a.md",
        "/etc/a.md",
        "a//b.md",
        "a/./b.md",
        "a\\b.md",
        "a\u0000.md",
        "",
        "a/",
      ];
      for (const path of [...paths, "x/../../a.md", "a\nb.md", `${"x".repeat(1_100)}.md`]) {
        const { status, body } = await post(
          JSON.stringify({ project: project.slug, files: [{ path, content: "# X\n" }] }),
          SERVICE,
        );
        assert.deepEqual([status, body.error?.code], [400, "BODY_INVALID"], JSON.stringify(path));
      }
      assert.equal((await fixture.syncs(project)).length, syncs);
    });

    await t.step("only a secret key can send files", async () => {
      const body = JSON.stringify({
        project: project.slug,
        files: [{ path: "x.md", content: "" }],
      });
      for (
        const headers of [
          {},
          { apikey: "sb_publishable_endpoint" },
          { apikey: "sb_secret_wrong" },
          {
            "x-supaswarm-wake-token": "guess",
          },
        ]
      ) {
        assert.equal((await post(body, headers as Record<string, string>)).status, 401);
      }
      const unknown = await post(body.replace("handbook", "nothing"), SERVICE);
      assert.deepEqual([unknown.status, unknown.body.error?.code], [404, "PROJECT_NOT_FOUND"]);
    });

    await t.step("the database's wake token is accepted", async () => {
      const [row] = await fixture.sql`
        select decrypted_secret as token from vault.decrypted_secrets
        where name = 'supaswarm_wake_token'`;

      const { status } = await post("", { "x-supaswarm-wake-token": String(row?.token) });

      assert.equal(status, 202);
    });

    await t.step("a failure to store the project's address is logged", async () => {
      await fixture.sql`alter function private.configure_project_url(text) rename to away`;
      const logged: string[] = [];
      const lonely = openApp(fixture, (_level, event) => logged.push(event));

      const response = await lonely.fetch(
        new Request("http://localhost/quoth-sync", {
          method: "POST",
          headers: SERVICE,
          body: JSON.stringify({ project: project.slug, files: [{ path: "a.md", deleted: true }] }),
        }),
      );

      assert.equal(response.status, 202);
      await waitFor(() => Promise.resolve(logged.includes("quoth.project_not_announced")), {
        what: "the warning",
      });
      await fixture.sql`alter function private.away(text) rename to configure_project_url`;
      await untilQuiet(fixture);
      await lonely.close();
    });
  } finally {
    await untilQuiet(fixture);
    await app.close();
  }
});

async function untilIndexed(
  fixture: SyncFixture,
  project: TestProject,
  commit: string,
): Promise<void> {
  await waitFor(async () => (await fixture.commits(project)).indexed === commit, {
    what: "the commit to be indexed",
  });
}

async function untilQuiet(fixture: SyncFixture): Promise<void> {
  await waitFor(async () => {
    const [row] = await fixture.sql`
      select count(*)::int as count from public.quoth_syncs where finished_at is null`;
    return row?.count === 0;
  }, { what: "all syncs to end" });
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { startStack } from "../../stack/stack.ts";

/** A project without any part of this one. */
async function makeProject(): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "stack-project-test-" });
  const functions = join(root, "supabase", "functions", "colours");
  const migrations = join(root, "supabase", "migrations");
  await Deno.mkdir(functions, { recursive: true });
  await Deno.mkdir(migrations);
  await Deno.writeTextFile(join(root, "deno.json"), "{}");
  await Deno.writeTextFile(
    join(migrations, "20260101000000_colours.sql"),
    `create table public.colours (name text primary key);
     alter table public.colours enable row level security;
     create policy readable on public.colours for select to anon using (true);
     grant select on public.colours to anon;
     grant insert on public.colours to service_role;`,
  );
  await Deno.writeTextFile(
    join(functions, "index.ts"),
    `Deno.serve(async () => {
      const url = Deno.env.get("SUPABASE_URL") + "/rest/v1/colours?select=name";
      const { default: apikey } = JSON.parse(Deno.env.get("SUPABASE_PUBLISHABLE_KEYS"));
      const rows = await (await fetch(url, { headers: { apikey } })).json();
      return Response.json({ rows, shade: Deno.env.get("SHADE") });
    });`,
  );
  return root;
}

Deno.test("a stack serves any project, with its functions and extensions", async () => {
  const projectRoot = await makeProject();
  const ended: string[] = [];
  const stack = await startStack({
    db: "pglite",
    port: 0,
    dataDir: null,
    projectRoot,
    watch: false,
    onLog: () => {},
    env: { SHADE: "dark", UNRELATED: "unseen" },
    functionSettings: ({ SHADE = "" }) => ({ SHADE }),
    startCompanion: (stops) => {
      stops.add("paint", () => Promise.resolve(void ended.push("paint")));
      return Promise.resolve({
        prepare: ({ apiUrl }) => {
          assert.match(apiUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
          return Promise.resolve();
        },
      });
    },
  });

  try {
    const row = await fetch(`${stack.apiUrl}/rest/v1/colours`, {
      headers: { apikey: stack.secretKey, "content-type": "application/json" },
      method: "POST",
      body: JSON.stringify({ name: "green" }),
    });
    assert.equal(row.status, 201);
    await row.body?.cancel();
    const answer = await fetch(`${stack.apiUrl}/functions/v1/colours`);
    assert.deepEqual(await answer.json(), { rows: [{ name: "green" }], shade: "dark" });
    assert.deepEqual(ended, []);
  } finally {
    await stack.stop();
    await Deno.remove(projectRoot, { recursive: true });
  }
  assert.deepEqual(ended, ["paint"]);
});

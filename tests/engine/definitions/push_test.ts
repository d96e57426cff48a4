import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import { openToolDatabase } from "../../gateway/tools/tool_fixture.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const HELPER = `---
name: push-helper
description: Helps.
provider: push-models
model: small
tools: push-crm
skills: [push-skill]
handoffs: none
---

You help.
`;
const CRM = `type: http_api
description: Finds customers.
config:
  method: GET
  url: https://crm.example.com/{id}
  parameters: { type: object, properties: { id: { type: string } } }
credential: { secret: PUSH_CRM_KEY, type: bearer_token }
`;
const SKILL = "---\nname: push-skill\ndescription: Helps well.\n---\n\nBe kind.\n";
const SCHEDULES = "push-daily: { agent: push-helper, input: Go, cron: '@daily' }\n";
const WEBHOOKS = "push-ci: { url: 'https://ci.example.com/hook', events: [task.completed] }\n";
const ALERTS = "push-spend: { measure: cost_usd, above: 5, agent: push-helper }\n";
const TRIGGERS = `push-paid:
  table: push_orders
  events: [insert, update]
  columns: [status]
  conditions: [{ column: status, op: eq, value: paid }]
  agent: push-helper
  input: { order: id }
`;
const FILES: Files = {
  "push-helper.md": HELPER,
  "tools/push-crm.yaml": CRM,
  "skills/push-skill/SKILL.md": SKILL,
  "schedules.yaml": SCHEDULES,
  "webhooks.yaml": WEBHOOKS,
  "alerts.yaml": ALERTS,
  "triggers.yaml": TRIGGERS,
};

type Files = Readonly<Record<string, string | null>>;

/** A folder of definitions, and the commands on it and on the database of the tests. */
interface Folder extends AsyncDisposable {
  readonly sql: Sql;
  write(files: Files): Promise<void>;
  read(path: string): Promise<string>;
  push(...args: string[]): Promise<Ended>;
  pull(...args: string[]): Promise<Ended>;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function openFolder(): Promise<Folder> {
  const database = await openToolDatabase();
  const { url } = database;
  const sql = createSql(url, { maxConnections: 2, applicationName: "push-test" });
  await sql`
    insert into public.llm_providers (name, display_name, default_model, requires_api_key)
    values ('push-models', 'Models', 'large', false) on conflict do nothing`;
  await sql`create table if not exists public.push_orders (id int primary key, status text)`;
  const folder = await Deno.makeTempDir();
  const run = async (script: string, args: readonly string[]): Promise<Ended> => {
    const mcps = script === "push.ts" ? ["--mcps", join(folder, ".mcps.yaml")] : [];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        join(ROOT, "scripts", script),
        "--db",
        url,
        "--folder",
        folder,
        ...mcps,
        ...args,
      ],
      env: { NO_COLOR: "1" },
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  };
  const write = async (files: Files) => {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      if (text === null) await Deno.remove(join(folder, path));
      else await Deno.writeTextFile(join(folder, path), text);
    }
  };
  await write({ ".mcps.yaml": "mcps: {}\n" });
  return {
    sql,
    write,
    read: (path) => Deno.readTextFile(join(folder, path)),
    push: (...args) => run("push.ts", args),
    pull: (...args) => run("pull.ts", args),
    [Symbol.asyncDispose]: async () => {
      await sql.end();
      await database.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function changesOf({ code, stdout, stderr }: Ended): Record<string, string> {
  assert.equal(code, 0, stderr);
  const plan: { changes: { kind: string; slug: string; change: string }[] } = JSON.parse(stdout);
  return Object.fromEntries(
    plan.changes.map(({ kind, slug, change }) => [`${kind} ${slug}`, change]),
  );
}

Deno.test("push writes files into the registry, and pull writes them back", async (t) => {
  await using folder = await openFolder();
  const { sql } = folder;
  await folder.write(FILES);
  const stored = async () => {
    const [row] = await sql`
      select agent.system_prompt, agent.may_hand_off,
        (select count(*)::int from public.agent_tools where agent_id = agent.id) as tools,
        (select count(*)::int from public.agent_skills where agent_id = agent.id) as skills
      from public.agents as agent where slug = 'push-helper'`;
    return row;
  };

  await t.step("a dry run shows what would be created, and changes nothing", async () => {
    const dry = await folder.push("--dry-run");

    assert.equal(dry.code, 0, dry.stderr);
    for (const name of ["tool push-crm", "skill push-skill", "agent push-helper"]) {
      assert.match(dry.stdout, new RegExp(`^created    ${name}`, "m"));
    }
    assert.match(dry.stdout, /Dry run: nothing was changed\.$/m);
    assert.equal(await stored(), undefined);
  });

  await t.step(
    "a push creates all of it, and names the secret and the scope that are missing",
    async () => {
      const pushed = await folder.push();

      assert.deepEqual(await stored(), {
        system_prompt: "You help.",
        may_hand_off: false,
        tools: 1,
        skills: 1,
      });
      assert.match(
        pushed.stdout,
        /^created {4}tool push-crm\n {11}sends the secret PUSH_CRM_KEY to crm\.example\.com$/m,
      );
      assert.match(
        pushed.stdout,
        /^warning {4}tool push-crm: .*"PUSH_CRM_KEY", but Vault has no secret/m,
      );
      assert.match(
        pushed.stdout,
        /^warning {4}agent push-helper: tools\.push-crm .*scope mcp:push-crm/m,
      );
      const [times] = await sql`
      select (select count(*)::int from public.schedules where name = 'push-daily') as schedules,
        (select count(*)::int from public.webhooks where name = 'push-ci') as webhooks,
        (select above::float8 from public.alerts where name = 'push-spend') as alert_above,
        (select count(*)::int from pg_trigger
          where tgrelid = 'public.push_orders'::regclass) as row_triggers`;
      assert.deepEqual({ ...times }, {
        schedules: 1,
        webhooks: 1,
        alert_above: 5,
        row_triggers: 2,
      });
    },
  );

  await t.step("a repeated push changes nothing", async () => {
    const again = await folder.push("--json");

    const own = Object.entries(changesOf(again)).filter(([name]) => name.includes("push-"));
    assert.deepEqual(new Set(own.map(([, change]) => change)), new Set(["unchanged"]));
    assert.equal(JSON.parse(again.stdout).is_changed, false);
  });

  await t.step("a push of one name leaves the other definitions alone", async () => {
    await folder.write({
      "push-helper.md": HELPER.replace("You help.", "You help first."),
      "tools/push-crm.yaml": CRM.replace("Finds", "Counts"),
    });

    const changes = changesOf(await folder.push("push-helper", "--json"));
    const unknown = await folder.push("push-hleper");
    const pruning = await folder.push("push-helper", "--prune");

    assert.deepEqual(changes, { "agent push-helper": "changed" });
    const [tool] = await sql`select description from public.tools where slug = 'push-crm'`;
    assert.equal(tool?.description, "Finds customers.");
    assert.match(unknown.stderr, /Cannot push push-hleper: no file defines it/);
    assert.match(pruning.stderr, /Cannot push with --prune and names/);
    await folder.write({ "push-helper.md": HELPER, "tools/push-crm.yaml": CRM });
    await folder.push();
  });

  await t.step("a tool for everyone needs no grant, which the push shows", async () => {
    const [user] = await sql<{ id: string }[]>`
      insert into auth.users (id, email, aud, role)
      values (gen_random_uuid(), 'push-user@example.test', 'authenticated', 'authenticated')
      returning id`;
    const scopes = async () => {
      const [row] = await sql<{ scopes: string[] }[]>`
        select private.granted_scopes(${user?.id ?? ""}::uuid, null) as scopes`;
      return row?.scopes ?? [];
    };
    assert.ok(!(await scopes()).includes("mcp:push-crm"));
    await folder.write({ "tools/push-crm.yaml": `audience: everyone\n${CRM}` });

    const dry = await folder.push("--dry-run");
    const { stdout } = await folder.push();

    const granted = /^ {11}grants mcp:push-crm to everyone who may run jobs$/m;
    assert.match(dry.stdout, granted);
    assert.match(stdout, granted);
    assert.doesNotMatch(stdout, /^warning .*mcp:push-crm/m);
    assert.ok((await scopes()).includes("mcp:push-crm"));
    assert.match((await folder.pull("push-crm")).stdout, /^unchanged {2}tools\/push-crm\.yaml$/m);

    await folder.write({ "tools/push-crm.yaml": CRM });
    const withdrawn = await folder.push();

    assert.match(withdrawn.stdout, /^ {11}withdraws mcp:push-crm from everyone without a grant$/m);
    assert.match(withdrawn.stdout, /^warning .*scope mcp:push-crm.*audience: everyone/m);
    assert.ok(!(await scopes()).includes("mcp:push-crm"));
  });

  await t.step("a tool that sends its secret to a new host has a warning", async () => {
    await folder.write({ "tools/push-crm.yaml": CRM.replace("crm.example", "new.example") });

    const { stdout } = await folder.push("--dry-run");

    assert.match(
      stdout,
      /^warning {4}tool push-crm: config\.url sends the secret PUSH_CRM_KEY to new\.example\.com; before, to crm\.example\.com/m,
    );
    await folder.write({ "tools/push-crm.yaml": CRM });
  });

  await t.step("a change is shown as a difference of the file, with who is affected", async () => {
    await folder.write({
      "push-helper.md": HELPER.replace("You help.", "You help quickly."),
      "tools/push-crm.yaml": CRM.replace("Finds", "Lists"),
    });

    const { stdout } = await folder.push();

    assert.match(
      stdout,
      /^changed {4}agent push-helper \(prompt\)\n {11}affects schedules: 1; row triggers: 1$/m,
    );
    assert.match(stdout, /^ +-You help\.\n +\+You help quickly\.$/m);
    assert.match(
      stdout,
      /^changed {4}tool push-crm \(description\)\n {11}affects agents: push-helper/m,
    );
  });

  await t.step("what was changed in the database shows as drift and is overwritten", async () => {
    await sql`update public.agents set model = 'other' where slug = 'push-helper'`;

    const { stdout } = await folder.push();

    assert.match(stdout, /agent push-helper \(model; model changed in the database since/);
    const [row] = await sql`select model from public.agents where slug = 'push-helper'`;
    assert.equal(row?.model, "small");
  });

  await t.step("pull writes what was changed in the database into the files", async () => {
    await sql`update public.agents set model = 'pulled' where slug = 'push-helper'`;
    await sql`update public.alerts set minutes = 30 where name = 'push-spend'`;

    const pulled = await folder.pull("push-helper", "push-daily", "push-spend");

    assert.match(pulled.stdout, /^changed {4}push-helper\.md$/m, pulled.stderr);
    assert.match(await folder.read("push-helper.md"), /^model: pulled$/m);
    assert.match(await folder.read("push-helper.md"), /You help quickly\.\n$/);
    assert.match(await folder.read("alerts.yaml"), /^ {2}minutes: 30$/m);
    const after = changesOf(await folder.push("--json"));
    assert.equal(after["agent push-helper"], "unchanged");
  });

  await t.step("pull leaves files alone that define the same, with their comments", async () => {
    const alerts = "# Who is called: the team of billing.\n" + (await folder.read("alerts.yaml"));
    await folder.write({ "alerts.yaml": alerts });

    const pulled = await folder.pull();

    assert.match(pulled.stdout, /^unchanged {2}alerts\.yaml$/m, pulled.stderr);
    assert.equal(await folder.read("alerts.yaml"), alerts);
  });

  await t.step("pull writes into the file that defines the agent", async () => {
    const text = await folder.read("push-helper.md");
    await folder.write({ "push-helper.md": null, "push-helper/agent.md": text });
    await sql`update public.agents set model = 'again' where slug = 'push-helper'`;

    const pulled = await folder.pull("push-helper");

    assert.match(pulled.stdout, /^changed {4}push-helper\/agent\.md$/m, pulled.stderr);
    assert.match(await folder.read("push-helper/agent.md"), /^model: again$/m);
    await folder.write({ "push-helper/agent.md": null, "push-helper.md": text });
    await folder.push();
  });

  await t.step(
    "an error of the database names the row, and nothing of the push stays",
    async () => {
      await folder.write({
        "push-second.md": HELPER.replace("push-helper", "push-second").replace(
          "push-crm",
          "push-crn",
        ),
        "tools/push-crm.yaml": CRM.replace("Finds", "Never stored"),
      });

      const failed = await folder.push();

      assert.equal(failed.code, 1);
      assert.match(
        failed.stderr,
        /Cannot save the agent "push-second": there is no tool "push-crn" .*\nDid you mean "push-crm"/,
      );
      const [row] = await sql`select description from public.tools where slug = 'push-crm'`;
      assert.equal(row?.description, "Lists customers.");
      await folder.write({ "push-second.md": null, "tools/push-crm.yaml": CRM });
    },
  );

  await t.step("an error of a file names the file and the nearest key", async () => {
    await folder.write({ "push-helper.md": HELPER.replace("model:", "modle:") });

    const failed = await folder.push();

    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /push-helper\.md:5: unknown key "modle"; did you mean "model"\?/);

    await folder.write({ "push-helper.md": HELPER, "tools/push-crm.yaml": `${CRM}auth: [` });
    const unread = await folder.push();
    assert.match(unread.stderr, /tools\/push-crm\.yaml:8: it is not YAML: /);
    await folder.write({ "tools/push-crm.yaml": CRM });
  });

  await t.step("what no file defines any more is left, and removed with --prune", async () => {
    await folder.write({
      "push-helper.md": null,
      "schedules.yaml": null,
      "webhooks.yaml": null,
      "alerts.yaml": null,
      "triggers.yaml": null,
      "tools/push-crm.yaml": CRM,
    });

    const left = changesOf(await folder.push("--json"));
    const removed = changesOf(await folder.push("--json", "--prune"));

    assert.equal(left["agent push-helper"], "left");
    assert.equal(left["tool push-crm"], "changed");
    assert.equal(removed["agent push-helper"], "removed");
    assert.equal(removed["schedule push-daily"], "removed");
    assert.equal(removed["alert push-spend"], "removed");
    assert.equal(removed["trigger push-paid"], "removed");
    const { count } = await sql`
      select from pg_trigger where tgrelid = 'public.push_orders'::regclass`;
    assert.equal(count, 0);
    assert.equal(await stored(), undefined);
    const after = changesOf(await folder.push("--json"));
    assert.deepEqual(Object.keys(after).filter((name) => name.includes("push-helper")), []);
  });
});

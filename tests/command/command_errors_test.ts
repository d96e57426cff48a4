import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { PROGRAMS } from "../../client/command/programs/programs.ts";
import { projectLabel } from "../../client/command/project/project_url.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { openToolDatabase } from "../gateway/tools/tool_fixture.ts";
import { installPacked, packCommand } from "./packed_command.ts";
import { startRefusingServers } from "./refusing_servers.ts";
import { createUserProject, type ProgramResult, type UserProject } from "./user_project.ts";

/** Must not be printed. */
const PASSWORD = "s3cret-w0rd";
const PROGRAM_NAMES = Object.keys(PROGRAMS);
/** One that Node runs and one that Deno runs, for what all of them meet at the same place. */
const KINDS = ["doctor", "push"];
const NATIVE = ["init", "new", "upgrade", "remove", "doctor", "types"];

/** A valid use of each command that takes `--db`. */
const WITH_DATABASE: Readonly<Record<string, readonly string[]>> = {
  doctor: [],
  types: [],
  remove: ["--yes", "--force"],
  push: [],
  pull: ["--dry-run"],
  agents: [],
  sql: ["select 1"],
  "skills:import": ["agents/skills/letters"],
  "mcps:sync": [],
  "quoth:add": ["--slug", "docs", "--folder", "agents"],
  "quoth:remove": ["docs", "--yes"],
  eval: ["writer"],
};

/** What each wrong database is called in the error. */
interface WrongDatabase {
  /** The commands to try. @default {@linkcode KINDS} */
  readonly names?: readonly string[];
  readonly what: string;
  readonly url: string;
  readonly error: RegExp;
}

const node = await findNode();
const fixtures = new AsyncDisposableStack();
const packed = fixtures.use(await packCommand());
const servers = fixtures.use(startRefusingServers());
const project = fixtures.use(await createProject());
const bare = fixtures.use(await openBareDatabase());
Deno.test.afterAll(async () => await fixtures.disposeAsync());

Deno.test("each command with a database says what is wrong with its URL", async (t) => {
  const { closedPort, websitePort, loginPort, silentPort } = servers;
  const at = (port: number) => `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const databases: readonly WrongDatabase[] = [
    {
      what: "a % in the password",
      url: `postgresql://postgres:${PASSWORD}%@127.0.0.1/postgres`,
      error: /--db: its password has a %.*\[URL_INVALID\]\n.*Percent-encode/,
    },
    {
      what: "a port without a server",
      names: Object.keys(WITH_DATABASE),
      url: at(closedPort),
      error: new RegExp(`database 127.0.0.1:${closedPort}/postgres: nothing listens there \\[DATA`),
    },
    {
      what: "a port of a website",
      url: `${at(websitePort)}?connect_timeout=2`,
      error: new RegExp(`127.0.0.1:${websitePort}/postgres: it (closed the conn|does not answer)`),
    },
    {
      what: "a port of a server that is silent",
      url: `${at(silentPort)}?connect_timeout=2`,
      error: new RegExp(`database 127.0.0.1:${silentPort}/postgres: it does not answer \\[DATA`),
    },
    {
      what: "a wrong password",
      url: at(loginPort),
      error: /Cannot log in to .*password authentication failed.*\[LOGIN_REFUSED\]\nCorrect the/,
    },
    {
      what: "a database without the platform",
      names: Object.keys(WITH_DATABASE),
      url: bare.url,
      error: /does not have SupaSwarm \[NOT_IN_DATABASE\]\n.*supabase@[\d.]+ db push --remote/,
    },
  ];
  for (const { what, url, error, names = KINDS } of databases) {
    await t.step(what, async () => {
      await forEach(names, async (name) => {
        const args = WITH_DATABASE[name] ?? [];
        // It runs any statement, and doctor reports this as a failed check.
        if (url === bare.url && (name === "sql" || name === "doctor")) return;
        assertRefused(await supaswarm(name, ...args, "--db", url), error, name);
      });
    });
  }
});

Deno.test("doctor fails the check of a database without the platform", async () => {
  const { code, stdout } = await supaswarm("doctor", "--db", bare.url);

  assert.equal(code, 1);
  assert.match(stdout, /✗ The database has release 0\.1\.0 .*: it has none\n.*db push --remote/);
});

Deno.test("doctor names the project at which it looked, and what answers there once", async (t) => {
  const { closedPort, websitePort } = servers;
  const cases: readonly (readonly [what: string, url: string, stdout: RegExp, stderr: RegExp])[] = [
    ["a text", "nope", /^$/, /--url: "nope" is not the address .* \[URL_INVALID\]\nPass https/],
    [
      "a port without a server",
      `http://127.0.0.1:${closedPort}/rest/v1`,
      /^Functions {2}http:\/\/127\.0\.0\.1:\d+ \(on this machine\)\n[^]*✗ A project answers at .*: nothing listens there\n/m,
      /1 of 5 checks failed \[UNHEALTHY\]/,
    ],
    [
      "a website",
      `http://127.0.0.1:${websitePort}`,
      /✗ All functions are deployed: mcp, .*supaswarm-worker: 200 <!doctype html><title>A shop<\/title>\n {2}Check that http.* is your Supabase project\. .*functions deploy/,
      /1 of 5 checks failed \[UNHEALTHY\]/,
    ],
  ];
  for (const [what, url, stdout, stderr] of cases) {
    await t.step(what, async () => {
      const result = await supaswarm("doctor", "--url", url);

      assertRefused(result, stderr, what);
      assert.match(result.stdout, stdout);
      assert.ok(result.stdout.split("\n").length < 12, result.stdout);
    });
  }
  await t.step("a hosted project", () => {
    assert.equal(
      projectLabel("https://abcdefghijklmnopqrst.supabase.co"),
      "https://abcdefghijklmnopqrst.supabase.co (hosted project abcdefghijklmnopqrst)",
    );
  });
});

Deno.test("eval says that the project refuses its key, and which URL is not one", async (t) => {
  await using database = await openPlatform();
  const variables = (url: string) => ({
    SUPABASE_URL: url,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_wrong",
    SUPABASE_SECRET_KEY: "sb_secret_wrong",
  });
  const { closedPort, keylessPort, websitePort } = servers;
  const cases = [
    ["nope", /SUPABASE_URL: "nope" is not the address/],
    [`http://127.0.0.1:${closedPort}`, /Cannot sign in evals@.*(nothing listens|fetch failed)/],
    [`http://127.0.0.1:${keylessPort}`, /Cannot sign in evals@.*Invalid API key/],
    [`http://127.0.0.1:${websitePort}`, /Cannot sign in evals@/],
  ] as const;
  for (const [url, error] of cases) {
    await t.step(url.replace(/\d+$/, "…"), async () => {
      const result = await runIn(project.root, variables(url), [
        "eval",
        "writer",
        "--db",
        database.url,
      ]);
      assertRefused(result, error, url);
    });
  }
});

Deno.test("each command names an option and an argument that it does not have", async () => {
  await forEach([...NATIVE, ...PROGRAM_NAMES], async (name) => {
    const args = name === "new" ? ["agent", "one"] : [];
    const option = await supaswarm(name, ...args, "--nope");
    assertRefused(option, /'?--nope'?/, `${name} --nope`);
    assert.equal(option.code, 2, `${name} --nope`);
  });
  await forEach([...NATIVE, "dev", "mcps:sync", "quoth:add"], async (name) => {
    const args = name === "new" ? ["agent", "one"] : [];
    const extra = await supaswarm(name, ...args, "surplus");
    assertRefused(extra, /argument.*surplus|surplus.*argument/, `${name} surplus`);
    assert.equal(extra.code, 2, name);
  });
  // Each has this option, but not the command.
  for (const args of [["init", "--url", "http://a.example"], ["types", "--yes"]]) {
    assertRefused(await supaswarm(...args), /has no option --(url|yes)/, args.join(" "));
  }
});

Deno.test("each command names the file that is missing", async (t) => {
  await t.step("the installation", async () => {
    await using empty = await emptyProject();
    await forEach([...NATIVE.filter((name) => name !== "init"), ...PROGRAM_NAMES], async (name) => {
      const args = name === "new" ? ["agent", "one"] : [];
      const result = await runIn(empty.root, {}, [name, ...args]);
      assertRefused(result, /this folder has no .*manifest\.json \[NOT_INSTALLED\]\nRun/, name);
    });
  });
  await t.step("a file or folder that an option or argument names", async () => {
    const missing: readonly (readonly string[])[] = [
      ["push", "--folder", "nowhere"],
      ["push", "--mcps", "nowhere"],
      ["eval", "--folder", "nowhere"],
      ["eval", "nowhere"],
      ["sql", "--file", "nowhere", "--db", bare.url],
      ["skills:import", "nowhere", "--db", bare.url],
      ["mcps:sync", "--file", "nowhere"],
      ["mcps:import", "nowhere"],
      ["import", "agents", "nowhere"],
      ["import", "tools", "nowhere"],
      ["quoth:add", "--slug", "docs", "--folder", "nowhere"],
    ];
    await forEach(missing, async (args) => {
      assertRefused(await supaswarm(...args), /nowhere/, args.join(" "));
    });
  });
  await t.step("a running stack", async () => {
    const databases = Object.keys(WITH_DATABASE).filter((name) =>
      name !== "doctor" && name !== "remove"
    );
    await forEach(databases, async (name) => {
      const result = await supaswarm(name, ...WITH_DATABASE[name] ?? []);
      assertRefused(result, /does not run in this folder|no stack is running/, name);
    });
  });
});

Deno.test("each command names the file or folder that it cannot use", async (t) => {
  await t.step("a file where a folder should be", async () => {
    const obstacles: readonly (readonly [path: string, ...args: string[]])[] = [
      ["supabase", "init", "--yes"],
      ["supabase/functions", "init", "--yes"],
      ["agents", "init", "--yes"],
    ];
    for (const [path, ...args] of obstacles) {
      await using empty = await emptyProject({ [path]: "a file\n" });
      const result = await runIn(empty.root, {}, args);

      assertRefused(result, new RegExp(`${path}\\b.*: .*file.* \\[FILE_FAILED\\]`), path);
      assert.equal((await empty.run("git", "status", "--porcelain")).stdout, "");
    }
  });
  await t.step("a manifest that is a folder, or no JSON", async () => {
    const path = join(project.root, "supabase/functions/_supaswarm/manifest.json");
    const manifest = await Deno.readTextFile(path);
    try {
      await Deno.writeTextFile(path, manifest.slice(0, 100));
      for (const name of [...NATIVE, "push"]) {
        const args = name === "new" ? ["agent", "one"] : [];
        assertRefused(await supaswarm(name, ...args), /\[MANIFEST_INVALID\]\nRestore/, name);
      }
      await Deno.remove(path);
      await Deno.mkdir(path);
      for (const name of [...NATIVE, "push"]) {
        const args = name === "new" ? ["agent", "one"] : [];
        assertRefused(await supaswarm(name, ...args), /it is a folder.*\[FILE_FAILED\]/, name);
      }
    } finally {
      await Deno.remove(path);
      await Deno.writeTextFile(path, manifest);
    }
  });
  await t.step("a file in place of the folder for programs", async () => {
    await using other = await createProject({ prepares: false });
    await Deno.writeTextFile(join(other.root, ".supaswarm"), "a file\n");
    const result = await runIn(other.root, {}, ["push"]);

    assertRefused(result, /\.supaswarm.* \[FILE_FAILED\]/, "push");
  });
  await t.step("a folder in which the user may not write, which stays as it is", async () => {
    await using empty = await emptyProject();
    await using installed = await createProject({ prepares: false });
    const cases: readonly (readonly [UserProject, ...string[]])[] = [
      [empty, "init", "--yes"],
      [installed, "new", "agent", "two"],
      [installed, "remove", "--yes", "--force"],
      [installed, "push"],
    ];
    // Another user may not be allowed to run this Deno, and these runs end before it starts.
    const deno = await Deno.makeTempDir();
    await Deno.chmod(deno, 0o755);
    const version = JSON.stringify({ version: "99.0.0", path: "/bin/true" });
    await Deno.writeTextFile(join(deno, "deno"), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 });
    for (const { root } of [empty, installed]) await Deno.chmod(root, 0o555);
    await forEach(cases, async ([{ root }, ...args]) => {
      const result = await runIn(root, {}, args, { isUnprivileged: true, deno });
      assertRefused(result, /this user may not \[FILE_FAILED\]\nRun/, args.join(" "));
    });
    await Deno.remove(deno, { recursive: true });
    for (const one of [empty, installed]) {
      await Deno.chmod(one.root, 0o755);
      assert.equal((await one.run("git", "status", "--porcelain")).stdout, "");
    }
  });
});

Deno.test("each command refuses Node 18 with one sentence", async () => {
  const ask = ["-y", "node@18", "--print", "process.execPath"];
  const { stdout: node18 } = await project.run("npx", ...ask);
  await forEach([...KINDS, "--help"], async (name) => {
    const args = ["node_modules/supaswarm/supaswarm.js", name];
    const result = await project.run(node18.trim(), ...args);
    assertRefused(result, /with Node 18\.\d+\.\d+ \[NODE_OUTDATED\]\nInstall Node 22/, name);
  });
});

Deno.test("each program names the registry that does not answer, to npm and to Deno", async (t) => {
  await using other = await createProject({ prepares: false });
  const registry = `http://127.0.0.1:${servers.closedPort}`;
  const error = new RegExp(
    `Cannot download the packages: ${registry} does not answer \\[PACKAGES_UNREACHABLE\\]\nThe first`,
  );
  const cache = await Deno.makeTempDir();
  const variables = {
    NPM_CONFIG_REGISTRY: registry,
    npm_config_registry: registry,
    npm_config_fetch_retries: "0",
    npm_config_cache: cache,
    DENO_DIR: cache,
  };
  await t.step("an installed Deno", async () => {
    assertRefused(await runIn(other.root, variables, ["dev"]), error, "dev");
  });
  await t.step("npm, which would get Deno", async () => {
    await forEach(["push", "dev"], async (name) => {
      const result = await runIn(other.root, variables, [name], { deno: null });
      assertRefused(result, error, name);
    });
  });
  await Deno.remove(cache, { recursive: true });
});

interface RunOptions {
  /** A folder with `deno`; null for none. @default that of this Deno */
  readonly deno?: string | null;
  /** Whether the user is one to whom nothing belongs. */
  readonly isUnprivileged?: boolean;
}

function supaswarm(...args: string[]): Promise<ProgramResult> {
  return runIn(project.root, {}, args);
}

/** Runs the packed command with Node, as a user without any variable of the platform. */
async function runIn(
  cwd: string,
  variables: Readonly<Record<string, string>>,
  args: readonly string[],
  { deno = dirname(Deno.execPath()), isUnprivileged = false }: RunOptions = {},
): Promise<ProgramResult> {
  const command = [node, join(cwd, "node_modules/supaswarm/supaswarm.js"), ...args];
  // Root may write everywhere.
  const isRoot = Deno.uid() === 0;
  const drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  const [program = "", ...rest] = isUnprivileged && isRoot ? [...drop, ...command] : command;
  const path = [dirname(node), "/usr/bin", "/bin"];
  const output = await new Deno.Command(program, {
    args: rest,
    cwd,
    clearEnv: true,
    env: {
      PATH: [...deno === null ? [] : [deno], ...path].join(":"),
      HOME: isUnprivileged ? "/nonexistent" : Deno.env.get("HOME") ?? "/",
      NO_COLOR: "1",
      ...variables,
    },
    stdin: "null",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: output.code, stdout: decode(output.stdout), stderr: decode(output.stderr) };
}

/** A refusal: one error of a few lines, without a stack and without the password. */
function assertRefused({ code, stdout, stderr }: ProgramResult, error: RegExp, what: string): void {
  const shown = `${what}: ${code}\n${stdout}\n${stderr}`;
  assert.ok(code === 1 || code === 2, shown);
  assert.match(stderr, /^error: [A-Z\d]/, shown);
  assert.match(stderr, error, shown);
  assert.ok(stderr.trimEnd().split("\n").length <= 3, shown);
  assert.doesNotMatch(stdout + stderr, /^\s+at |node:internal|Stack backtrace|Uncaught/m, shown);
  assert.ok(!(stdout + stderr).includes(PASSWORD), shown);
}

/** Runs two at a time, because each run waits for processes to start. */
async function forEach<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items.values();
  const worker = async () => {
    for (const item of iterator) await run(item);
  };
  await Promise.all([worker(), worker()]);
}

/** The executable of Node, which a symbolic link may hide. */
async function findNode(): Promise<string> {
  const options = { args: ["--print", "process.execPath"] };
  const { stdout } = await new Deno.Command("node", options).output();
  return new TextDecoder().decode(stdout).trim();
}

/** A folder with the installed package, that another user can read. */
async function emptyProject(files: Readonly<Record<string, string>> = {}): Promise<UserProject> {
  const created = await createUserProject({ ".gitignore": "node_modules\n.supaswarm\n", ...files });
  await Deno.chmod(created.root, 0o755);
  await installPacked(created, packed);
  return created;
}

/** A project with the platform. @param options.prepares Whether its programs have run once. */
async function createProject({ prepares = true } = {}): Promise<UserProject> {
  const created = await emptyProject();
  const args = [["init", "--yes", "--schema", "public"], ["new", "skill", "letters"]];
  for (const one of args) {
    const { code, stderr } = await runIn(created.root, {}, one);
    assert.equal(code, 0, stderr);
  }
  await created.write("external-mcps.yaml", "mcps: {}\n");
  await created.commit();
  if (prepares) await runIn(created.root, {}, ["push", "--help"]);
  return created;
}

/** A database with Supabase's objects and without the platform's. */
async function openBareDatabase() {
  const database = await openDatabase({ db: "pglite", dataDir: null, log: () => {} });
  return { url: database.url, [Symbol.asyncDispose]: () => database.stop() };
}

async function openPlatform() {
  const database = await openToolDatabase();
  return { url: database.url, [Symbol.asyncDispose]: () => database.stop() };
}

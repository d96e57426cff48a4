import assert from "node:assert/strict";
import { join } from "node:path";
import { copySnapshot } from "./snapshot.ts";

/** Runs a test with a cache in a temporary folder. Its snapshots hold two files. */
async function withCache(test: (cache: TestCache) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  let buildCount = 0;
  const options = {
    cacheDir: join(folder, "cache"),
    key: "k",
    log: () => {},
    build: async (dataDir: string) => {
      buildCount++;
      await Deno.mkdir(join(dataDir, "base", "1"), { recursive: true });
      await Deno.mkdir(join(dataDir, "empty"));
      await Deno.writeTextFile(join(dataDir, "base", "1", "table"), "rows");
      await Deno.writeTextFile(join(dataDir, "PG_VERSION"), "18");
    },
  };
  try {
    await test({ folder, options, buildCount: () => buildCount });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface TestCache {
  readonly folder: string;
  readonly options: Parameters<typeof copySnapshot>[0];
  readonly buildCount: () => number;
}

async function assertWhole(target: string): Promise<void> {
  assert.equal(await Deno.readTextFile(join(target, "base", "1", "table")), "rows");
  assert.equal(await Deno.readTextFile(join(target, "PG_VERSION")), "18");
  assert.ok((await Deno.stat(join(target, "empty"))).isDirectory);
}

Deno.test("copySnapshot() builds a snapshot once and copies it each time", () =>
  withCache(async ({ folder, options, buildCount }) => {
    await copySnapshot(options, join(folder, "a"));
    await copySnapshot(options, join(folder, "b"));

    await assertWhole(join(folder, "a"));
    await assertWhole(join(folder, "b"));
    assert.equal(buildCount(), 1);
  }));

for (
  const [damage, inflict] of [
    ["a shortened file", (data: string) => Deno.truncate(join(data, "base", "1", "table"), 1)],
    ["a missing file", (data: string) => Deno.remove(join(data, "PG_VERSION"))],
    [
      "an unreadable manifest",
      (data: string) => Deno.writeTextFile(`${data}/../manifest.json`, "{"),
    ],
    ["no manifest", (data: string) => Deno.remove(`${data}/../manifest.json`)],
  ] as const
) {
  Deno.test(`copySnapshot() rebuilds a snapshot that has ${damage}`, () =>
    withCache(async ({ folder, options, buildCount }) => {
      await copySnapshot(options, join(folder, "a"));
      await inflict(join(options.cacheDir, "database-k", "data"));

      await copySnapshot(options, join(folder, "b"));

      await assertWhole(join(folder, "b"));
      assert.equal(buildCount(), 2);
    }));
}

Deno.test("copySnapshot() builds once for concurrent starts and leaves no drafts behind", () =>
  withCache(async ({ folder, options, buildCount }) => {
    const targets = ["a", "b", "c", "d"].map((name) => join(folder, name));

    await Promise.all(targets.map((target) => copySnapshot(options, target)));

    for (const target of targets) await assertWhole(target);
    assert.equal(buildCount(), 1);
    const left = [...Deno.readDirSync(folder), ...Deno.readDirSync(options.cacheDir)];
    assert.deepEqual(left.filter((entry) => entry.name.includes("draft")), []);
  }));

Deno.test("copySnapshot() removes the snapshots that were not used for longest", () =>
  withCache(async ({ folder, options, buildCount }) => {
    await copySnapshot(options, join(folder, "first"));
    for (let n = 0; n < 18; n++) {
      await copySnapshot({ ...options, key: `other-${n}` }, join(folder, `other-${n}`));
      await copySnapshot(options, join(folder, `again-${n}`));
    }

    assert.equal(buildCount(), 19);
    const cached = [...Deno.readDirSync(options.cacheDir)].filter((entry) => entry.isDirectory);
    assert.equal(cached.length, 16);
  }));

Deno.test("copySnapshot() removes what nobody has used for a month, and nothing of others", () =>
  withCache(async ({ folder, options }) => {
    const old = ["database-a", "extensions-a", "draft-a", "notes"];
    for (const name of [...old, "database-used"]) {
      await Deno.mkdir(join(options.cacheDir, name), { recursive: true });
    }
    const then = new Date(Date.now() - 31 * 86_400_000);
    for (const name of old) await Deno.utime(join(options.cacheDir, name), then, then);

    await copySnapshot(options, join(folder, "a"));

    const left = [...Deno.readDirSync(options.cacheDir)].filter((entry) => entry.isDirectory);
    assert.deepEqual(left.map(({ name }) => name).sort(), ["database-k", "database-used", "notes"]);
  }));

Deno.test("copySnapshot() stops waiting for the build of another process when its signal aborts", () =>
  withCache(async ({ folder, options, buildCount }) => {
    const stopping = new AbortController();
    await Deno.mkdir(options.cacheDir, { recursive: true });
    using lock = await Deno.open(join(options.cacheDir, "database-k.lock"), {
      create: true,
      write: true,
    });
    await lock.lock(true);
    const reported = Promise.withResolvers<string>();
    const copying = copySnapshot(
      { ...options, signal: stopping.signal, report: reported.resolve },
      join(folder, "a"),
    );

    assert.match(await reported.promise, /waiting for another start/);
    stopping.abort(new Error("Ctrl-C"));

    await assert.rejects(copying, /Ctrl-C/);
    assert.equal(buildCount(), 0);
  }));

Deno.test("copySnapshot() leaves neither a snapshot nor a target when the build fails", () =>
  withCache(async ({ folder, options }) => {
    const failing = { ...options, build: () => Promise.reject(new Error("no disk")) };

    await assert.rejects(copySnapshot(failing, join(folder, "a")), /no disk/);

    const cached = [...Deno.readDirSync(options.cacheDir)].map((entry) => entry.name);
    assert.deepEqual(cached, ["database-k.lock"]);
    assert.deepEqual([...Deno.readDirSync(folder)].map((entry) => entry.name), ["cache"]);
  }));

Deno.test("copySnapshot() removes old snapshots, also while other starts remove them", () =>
  withCache(async ({ folder, options }) => {
    const old = Array.from({ length: 400 }, (_, index) => `database-old-${index}`);
    for (const name of old) {
      await Deno.mkdir(join(options.cacheDir, name), { recursive: true });
      await Deno.utime(join(options.cacheDir, name), 1, 1);
    }
    const keys = Array.from({ length: 20 }, (_, index) => `${index}`);
    const built = keys.map(() => Promise.withResolvers<void>());

    // Each begins when the one before has built its snapshot, and removes old ones.
    await Promise.all(keys.map(async (key, index) => {
      await built[index - 1]?.promise;
      const log = () => built[index]?.resolve();
      await copySnapshot({ ...options, key, log }, join(folder, key));
    }));

    for (const key of keys) await assertWhole(join(folder, key));
    const left = await Array.fromAsync(Deno.readDir(options.cacheDir));
    assert.ok(left.filter(({ isDirectory }) => isDirectory).length <= 16);
  }));

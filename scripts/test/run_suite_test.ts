import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestBatch } from "./plan_batches.ts";
import { runBatch } from "./run_batch.ts";
import { runSuite } from "./run_suite.ts";
import { countTests, failureLines } from "./summarize.ts";

const PASSES = `Deno.test("passes", () => {});`;
const FAILS = `Deno.test("outer", async (t) => {
  await t.step("inner", () => { throw new Error("boom\\nmore"); });
});`;

Deno.test("runSuite() counts and names failures, including a file that cannot be loaded", async () => {
  await using folder = await folderWith({
    "a_test.ts": PASSES,
    "b/inner_test.ts": FAILS,
    "c_test.ts": `throw new TypeError("no such thing");`,
    "not_a_test_file.ts": FAILS,
  });

  const reports = await runSuite({ ...suiteIn(folder.path), repetitions: undefined });

  assert.deepEqual(countTests(reports), { passed: 1, failed: 3 });
  assert.deepEqual(failureLines(reports), [
    "tests/b/inner_test.ts: outer > inner",
    "  Error: boom",
    "tests/c_test.ts: (outside of its tests)",
    "  error: (in promise) TypeError: no such thing",
  ]);
});

Deno.test("runSuite() refuses a path without tests and says what to name", async () => {
  await using folder = await folderWith({ "a_test.ts": PASSES, "b/inner.ts": PASSES });
  const run = (...paths: string[]) =>
    runSuite({ ...suiteIn(folder.path), paths, repetitions: undefined });

  for (const path of ["tests/b", "tests/b/inner.ts", "tests/none_test.ts"]) {
    await assert.rejects(
      run("tests/a_test.ts", path),
      ({ message }: Error) => message.includes(`"${path}"`) && message.includes("*_test.ts"),
    );
  }
});

Deno.test("runSuite() gives pgTAP files that are named, or in a named folder, to one test file", async () => {
  await using folder = await folderWith({
    "a_test.ts": PASSES,
    "platform/pgtap/chosen_files.ts": `
      for (const file of Deno.env.get("SUPASWARM_TEST_PGTAP_FILES").split("\\n")) {
        Deno.test(file, () => {});
      }`,
    "../supabase/tests/f/one.sql": "",
    "../supabase/tests/g/two.sql": "",
    "../supabase/tests/g/three.sql": "",
  });

  const reports = await runSuite({
    ...suiteIn(folder.path),
    paths: ["supabase/tests/f/one.sql", "tests/a_test.ts", "supabase/tests/g/"],
    repetitions: undefined,
  });

  assert.deepEqual(reports.flatMap(({ cases }) => cases).map(({ name }) => name).sort(), [
    "passes",
    "supabase/tests/f/one.sql",
    "supabase/tests/g/three.sql",
    "supabase/tests/g/two.sql",
  ]);
});

Deno.test("runSuite() leaves out the files and folders that are excepted", async () => {
  await using folder = await folderWith({
    "a_test.ts": PASSES,
    "b_test.ts": FAILS,
    "c/inner_test.ts": FAILS,
  });

  const reports = await runSuite({
    ...suiteIn(folder.path),
    except: ["tests/b_test.ts", "tests/c"],
    repetitions: undefined,
  });

  assert.deepEqual(countTests(reports), { passed: 1, failed: 0 });
});

Deno.test("runSuite() repeats a file and reports how often it failed", async () => {
  await using folder = await folderWith({ "b_test.ts": FAILS });

  const reports = await runSuite({ ...suiteIn(folder.path), repetitions: 3 });

  assert.equal(reports.length, 3);
  assert.equal(failureLines(reports)[0], "tests/b_test.ts: outer > inner (3 times)");
});

Deno.test("runBatch() loads what the files of a batch share once, and names each test's own file", async () => {
  await using folder = await folderWith({
    "opened.ts": `export const opened = { count: 0 };`,
    "a_test.ts": `import { opened } from "./opened.ts";
      Deno.test("opens", () => { opened.count += 1; });`,
    "b_test.ts": `import { opened } from "./opened.ts";
      Deno.test("finds it", () => { if (opened.count !== 1) throw new Error("not shared"); });`,
  });

  const { cases } = await runBatch(batchOf("tests/a_test.ts", "tests/b_test.ts"), {
    projectRoot: folder.path,
    filter: undefined,
    env: {},
    timeoutMs: 60_000,
  });

  assert.deepEqual(cases.map(({ file, name, failure }) => [file, name, failure]), [
    ["tests/a_test.ts", "opens", null],
    ["tests/b_test.ts", "finds it", null],
  ]);
});

Deno.test("runBatch() names the one file of a batch that cannot be loaded, and runs the others", async () => {
  await using folder = await folderWith({
    "a_test.ts": PASSES,
    "c_test.ts": `throw new TypeError("no such thing");`,
  });

  const { cases } = await runBatch(batchOf("tests/a_test.ts", "tests/c_test.ts"), {
    projectRoot: folder.path,
    filter: undefined,
    env: {},
    timeoutMs: 60_000,
  });

  assert.deepEqual(cases.map(({ file, failure }) => [file, failure]), [
    ["tests/a_test.ts", null],
    ["tests/c_test.ts", "error: (in promise) TypeError: no such thing"],
  ]);
});

Deno.test("runBatch() gives a test the same environment in a terminal with colors and on a CI machine", async () => {
  await using folder = await folderWith({
    "a_test.ts": `Deno.test("reads its environment", () => {
      const names = ["CI", "FORCE_COLOR", "NO_COLOR", "HOME"];
      throw new Error(names.filter((name) => Deno.env.has(name)).join(" "));
    });`,
  });
  const callers = [["FORCE_COLOR", "1"], ["CI", "true"], ["NO_COLOR", "1"]] as const;

  for (const [name, value] of callers) {
    using _ = withVariable(name, value);
    const { cases, output } = await runBatch(batchOf("tests/a_test.ts"), {
      projectRoot: folder.path,
      filter: undefined,
      env: {},
      timeoutMs: 60_000,
    });

    assert.match(cases[0]?.failure ?? "", /^Error: NO_COLOR HOME\n/);
    assert.equal(output.includes("\x1b"), false);
  }
});

Deno.test("runBatch() reports a test that a fixture registered under the file that uses it", async () => {
  await using folder = await folderWith({
    "fixture.ts": `export const sharedTest = (name) => Deno.test(name, () => {});`,
    "a_test.ts": `import { sharedTest } from "./fixture.ts"; sharedTest("passes");`,
    "b_test.ts": `import { sharedTest } from "./fixture.ts"; sharedTest("passes too");`,
    "c_test.ts": `import { sharedTest } from "./fixture.ts"; sharedTest(["pass", "es"].join(""));`,
  });
  const run = async (...files: string[]) => {
    const { cases } = await runBatch(batchOf(...files), {
      projectRoot: folder.path,
      filter: undefined,
      env: {},
      timeoutMs: 60_000,
    });
    return cases.map(({ file }) => file);
  };

  assert.deepEqual(await run("tests/b_test.ts", "tests/a_test.ts"), [
    "tests/b_test.ts",
    "tests/a_test.ts",
  ]);
  assert.deepEqual(await run("tests/c_test.ts"), ["tests/c_test.ts"]);
});

Deno.test("runBatch() ends a file that hangs, and reports it", async () => {
  await using folder = await folderWith({
    "hangs_test.ts": `Deno.test("hangs", () => { while (true); });`,
  });

  const { cases } = await runBatch(batchOf("tests/hangs_test.ts"), {
    projectRoot: folder.path,
    filter: undefined,
    env: {},
    timeoutMs: 500,
  });

  assert.deepEqual(cases.map(({ failure }) => failure), ["The run was ended after 0.5 s"]);
});

/** Sets a variable of this process until the end of the scope. */
function withVariable(name: string, value: string) {
  const before = Deno.env.get(name);
  Deno.env.set(name, value);
  const restore = () => before === undefined ? Deno.env.delete(name) : Deno.env.set(name, before);
  return { [Symbol.dispose]: restore };
}

function batchOf(...files: string[]): TestBatch {
  return { files, expectedMs: 0 };
}

function suiteIn(projectRoot: string) {
  return {
    projectRoot,
    paths: ["tests"],
    filter: undefined,
    env: {},
    temporaryFolder: undefined,
    jobs: 1,
    write: () => {},
  };
}

/** A project whose folder `tests` contains these files. */
async function folderWith(files: Readonly<Record<string, string>>) {
  const path = await Deno.makeTempDir({ prefix: "supaswarm-suite-" });
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(join(path, "tests", name, ".."), { recursive: true });
    await Deno.writeTextFile(join(path, "tests", name), text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

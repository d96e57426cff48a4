import assert from "node:assert/strict";
import { join } from "node:path";
import { waitFor } from "../../scripts/wait_for.ts";
import { startHost, writeFunction } from "./host_fixture.ts";

/** Answers with a number that is different in each isolate, and performs the action in the path. */
const LIVES = `
const life = crypto.randomUUID();
addEventListener("beforeunload", (event) => console.log("unload " + event.detail.reason));
Deno.serve((request) => {
  const path = new URL(request.url).pathname;
  if (path.endsWith("/throw")) { setTimeout(() => { throw new Error("boom"); }); return new Promise(() => {}); }
  if (path.endsWith("/reject")) { Promise.reject(new Error("refused")); return new Promise(() => {}); }
  if (path.endsWith("/loop")) { while (true); }
  if (path.endsWith("/hang")) return new Promise(() => {});
  if (path.endsWith("/later")) {
    EdgeRuntime.waitUntil(new Promise((resolve) => setTimeout(resolve, 600)).then(() => console.log("work done")));
  }
  if (path.endsWith("/endless")) EdgeRuntime.waitUntil(new Promise(() => {}));
  if (path.endsWith("/fail-later")) EdgeRuntime.waitUntil(Promise.reject(new Error("late")));
  return new Response(life);
});`;

async function childProcessCount(): Promise<number> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "ppid=,args="] }).output();
  const lines = new TextDecoder().decode(stdout).split("\n");
  return lines.filter((line) =>
    Number.parseInt(line) === Deno.pid && line.includes("isolate_process.ts")
  ).length;
}

async function errorCode(response: Response): Promise<string> {
  return (await response.json()).error.code;
}

/** Long enough that an isolate on a busy machine answers a ping within it. */
const BLOCKED_MS = 1_500;

Deno.test("an uncaught error fails the request in flight, and a new isolate serves the next one", async () => {
  await using fixture = await startHost({ lives: LIVES });
  const first = await (await fixture.get("lives")).text();

  for (const path of ["/throw", "/reject"]) {
    const response = await fixture.get("lives", path);
    assert.equal(response.status, 500);
    assert.equal(await errorCode(response), "FUNCTION_CRASHED");
  }

  const next = await fixture.get("lives");
  assert.equal(next.status, 200);
  assert.notEqual(await next.text(), first);
  assert.ok(
    fixture.logs.some(({ level, message }) => level === "error" && /boom/.test(message ?? "")),
  );
});

Deno.test("only a request with an interrupted body fails", async () => {
  await using fixture = await startHost({ lives: LIVES });
  const first = await (await fixture.get("lives")).text();
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error("the upload broke off")),
  });

  const response = await fixture.get("lives", "", { method: "POST", body });

  assert.equal(response.status, 502);
  assert.equal(await errorCode(response), "FUNCTION_EXCHANGE_BROKEN");
  assert.equal(await (await fixture.get("lives")).text(), first);
});

Deno.test("failed work given to waitUntil is logged and ends nothing", async () => {
  await using fixture = await startHost({ lives: LIVES });

  const first = await (await fixture.get("lives", "/fail-later")).text();

  await waitFor(() => fixture.logs.some(({ message }) => /late/.test(message ?? "")));
  assert.equal(await (await fixture.get("lives")).text(), first);
});

Deno.test("code that does not load answers FUNCTION_BOOT_ERROR and is loaded again", async () => {
  await using fixture = await startHost({
    syntax: "Deno.serve(() => {",
    throws: `throw new Error("no luck");`,
    silent: `export const nothing = 1;`,
    missing: `import "./nowhere.ts";`,
  });

  for (const name of ["syntax", "throws", "silent", "missing"]) {
    const response = await fixture.get(name);
    assert.equal(response.status, 500, name);
    assert.equal(await errorCode(response), "FUNCTION_BOOT_ERROR", name);
    assert.ok(fixture.logs.some((line) => line.function === name && line.level === "error"), name);
  }
  await writeFunction(fixture.projectRoot, "throws", `Deno.serve(() => new Response("mended"));`);

  assert.equal(await (await fixture.get("throws")).text(), "mended");
});

Deno.test("code that never finishes loading answers FUNCTION_BOOT_ERROR at the boot limit", async () => {
  await using fixture = await startHost(
    { stuck: `while (true);`, waits: `await new Promise(() => {});` },
    { bootTimeoutMs: 500 },
  );

  for (const name of ["stuck", "waits"]) {
    assert.equal(await errorCode(await fixture.get(name)), "FUNCTION_BOOT_ERROR");
  }
});

Deno.test("an endless loop is ended at the wall clock limit while a new isolate takes over", async () => {
  await using fixture = await startHost({ lives: LIVES }, { wallClockMs: 1_500 });
  await (await fixture.get("lives")).text();

  const looping = fixture.get("lives", "/loop");
  await waitFor(async () => {
    const answer = fixture.get("lives").then((response) => response.status === 200);
    const timeout = new Promise<boolean>((resolve) => setTimeout(resolve, 100, false));
    return await Promise.race([answer, timeout]);
  });

  const response = await looping;
  assert.equal(response.status, 546);
  assert.equal(await errorCode(response), "FUNCTION_WALL_CLOCK");
});

Deno.test("an isolate in an endless loop is detected and ended, a waiting one is not", async () => {
  await using fixture = await startHost({ lives: LIVES }, { blockedMs: BLOCKED_MS });
  const first = await (await fixture.get("lives")).text();

  const hanging = fixture.get("lives", "/hang");
  await new Promise((resolve) => setTimeout(resolve, 2.5 * BLOCKED_MS));
  assert.equal(await (await fixture.get("lives")).text(), first);
  const looping = await fixture.get("lives", "/loop");

  assert.equal(looping.status, 546);
  assert.equal(await errorCode(looping), "FUNCTION_BLOCKED");
  assert.equal(await errorCode(await hanging), "FUNCTION_BLOCKED");
  assert.notEqual(await (await fixture.get("lives")).text(), first);
});

Deno.test("an endless loop affects no other function, and uses no processor after its end", async () => {
  await using fixture = await startHost({ lives: LIVES, other: LIVES }, { blockedMs: BLOCKED_MS });
  const other = fixture.get("other", "/later");
  await (await other).text();

  await fixture.get("lives", "/loop");

  await waitFor(() => fixture.logs.some(({ message }) => message === "work done"));
  await waitFor(() => fixture.logs.some(({ message }) => message === "unload early_drop"));
  await waitFor(async () => await childProcessCount() === 0);
});

Deno.test("a request without an answer in time is FUNCTION_TIMEOUT and affects no other", async () => {
  await using fixture = await startHost({ lives: LIVES }, { requestTimeoutMs: 3_000 });
  // The first requests may wait longer than that for the start of the isolate.
  const first = await waitFor(async () => {
    const answer = await fixture.get("lives");
    return answer.ok && await answer.text();
  }, { what: "the isolate" });

  const response = await fixture.get("lives", "/hang");

  assert.equal(response.status, 504);
  assert.equal(await errorCode(response), "FUNCTION_TIMEOUT");
  assert.equal(await (await fixture.get("lives")).text(), first);
});

Deno.test("a retired isolate finishes its background work before it unloads", async () => {
  await using fixture = await startHost({ lives: LIVES }, { watch: true });
  const first = await (await fixture.get("lives", "/later")).text();

  await writeFunction(fixture.projectRoot, "lives", `${LIVES} // changed`);
  await waitFor(async () => await (await fixture.get("lives")).text() !== first);

  await waitFor(() => fixture.logs.some(({ message }) => message?.startsWith("unload")));
  const messages = fixture.logs.flatMap(({ message }) => message ?? []);
  assert.deepEqual(messages, ["work done", "unload early_drop"]);
});

Deno.test("background work beyond nine tenths of the wall clock limit receives beforeunload", async () => {
  // The isolate has a tenth of this time to announce its unload.
  await using fixture = await startHost({ lives: LIVES }, { wallClockMs: 5_000 });

  await (await fixture.get("lives", "/endless")).text();

  await waitFor(() => fixture.logs.some(({ message }) => message === "unload wall_clock"));
});

Deno.test("changed code, even in an imported file, serves the next request", async () => {
  await using fixture = await startHost({
    versioned: `import { version } from "../../../shared/version.ts";
    Deno.serve(() => new Response(version));`,
  }, { watch: false });
  const shared = join(fixture.projectRoot, "shared");
  await Deno.mkdir(shared);
  await Deno.writeTextFile(join(shared, "version.ts"), `export const version = "one";`);
  await using watching = await startHost({}, {
    projectRoot: fixture.projectRoot,
    watch: true,
  });
  assert.equal(await (await watching.get("versioned")).text(), "one");

  await Deno.writeTextFile(join(shared, "version.ts"), `export const version = "two";`);

  await waitFor(async () => await (await watching.get("versioned")).text() === "two");
});

Deno.test("a new function is served and listed without a restart", async () => {
  await using fixture = await startHost({ old: LIVES }, { watch: true });

  await writeFunction(fixture.projectRoot, "new", `Deno.serve(() => new Response("new"));`);

  await waitFor(() => fixture.host.names.includes("new"));
  assert.equal(await (await fixture.get("new")).text(), "new");
});

Deno.test("a function that exhausts the memory of the process does not stop the host", async () => {
  await using fixture = await startHost({
    lives: LIVES,
    greedy: `Deno.serve(() => {
      const hoard = [];
      while (true) hoard.push(new Array(1e6).fill({}).map(() => ({})));
    });`,
    // A busy machine must not take longer to use up the memory than the loop may block.
  }, { blockedMs: 300_000 });

  const response = await fixture.get("greedy");

  assert.equal(await errorCode(response), "FUNCTION_CRASHED");
  await waitFor(async () => (await fixture.get("lives")).status === 200);
});

Deno.test("after stop() no request is served and no process is left", async () => {
  await using fixture = await startHost({ lives: LIVES });
  await (await fixture.get("lives")).text();
  const looping = fixture.get("lives", "/loop");

  await Promise.all([fixture.host.stop(), fixture.host.stop()]);

  assert.equal(await errorCode(await looping), "FUNCTION_HOST_STOPPED");
  assert.equal(await errorCode(await fixture.get("lives")), "FUNCTION_HOST_STOPPED");
});

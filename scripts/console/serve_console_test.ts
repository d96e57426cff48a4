import assert from "node:assert/strict";
import { waitFor } from "../wait_for.ts";
import { serveConsole } from "./serve_console.ts";

/** Serves a console whose sources are newer than what is built; a test ends the build. */
function serveStaleConsole({ buildsAtOnce }: { readonly buildsAtOnce: boolean }) {
  const building = Promise.withResolvers<void>();
  const events: string[] = [];
  const served = serveConsole({
    port: 0,
    apiUrl: "http://127.0.0.1:54321",
    publishableKey: "sb_publishable_test",
    buildsAtOnce,
    onBuildFailure: (error) => events.push(error.message),
  }, {
    isStale: () => Promise.resolve(true),
    build: (signal) => {
      events.push("begun");
      signal.addEventListener("abort", () => building.reject(signal.reason), { once: true });
      return building.promise;
    },
  });
  events.push("served");
  const statusOf = async (path: string) => {
    const answer = await fetch(`${served.url}${path}`);
    await answer.body?.cancel();
    return answer.status;
  };
  return { served, events, building, statusOf };
}

Deno.test("serveConsole() returns before the build begins, and answers while it lasts", async () => {
  const { served, events, building, statusOf } = serveStaleConsole({ buildsAtOnce: true });
  try {
    await waitFor(() => events.length === 2, { what: "the build to begin" });
    assert.deepEqual(events, ["served", "begun"]);
    assert.equal(await statusOf("/"), 503);
    assert.equal(await statusOf("/config.json"), 200);

    building.resolve();

    await waitFor(async () => await statusOf("/no-such-file") === 404, { what: "the console" });
    assert.deepEqual(events, ["served", "begun"]);
  } finally {
    await served.stop();
  }
});

Deno.test("serveConsole() for a program builds nothing before somebody asks for the page", async () => {
  const { served, events, building, statusOf } = serveStaleConsole({ buildsAtOnce: false });
  try {
    assert.equal(await statusOf("/config.json"), 200);
    assert.deepEqual(events, ["served"]);
    assert.equal(await statusOf("/"), 503);
    assert.deepEqual(events, ["served", "begun"]);
    building.resolve();
  } finally {
    await served.stop();
  }
});

Deno.test("a build that fails is shown on the page and reported once", async () => {
  const { served, events, building, statusOf } = serveStaleConsole({ buildsAtOnce: true });
  try {
    building.reject(new Error("Cannot build the console: <out of disk>"));
    await waitFor(async () => await statusOf("/") === 500, { what: "the failure" });
    const page = await (await fetch(served.url)).text();
    assert.match(page, /&lt;out of disk>/);
    assert.deepEqual(events.slice(2), ["Cannot build the console: <out of disk>"]);
  } finally {
    await served.stop();
  }
});

Deno.test("serveConsole() ends the build when it stops, and does not call that a failure", async () => {
  const { served, events, building } = serveStaleConsole({ buildsAtOnce: true });
  await waitFor(() => events.length === 2, { what: "the build to begin" });

  await served.stop();

  await assert.rejects(building.promise, { name: "AbortError" });
  assert.deepEqual(events, ["served", "begun"]);
});

import assert from "node:assert/strict";
import { startApp } from "./serve_app.ts";

Deno.test("startApp() hides the text of an unexpected error", async () => {
  const logged: unknown[] = [];
  const app = startApp(() => {
    throw new TypeError("Invalid URL: 'postgresql://postgres:secret@db'");
  }, (...line) => logged.push(line));

  const response = await app.fetch(new Request("http://test/", { method: "POST" }));

  const body = await response.json();
  assert.deepEqual([response.status, body.error.code], [500, "INTERNAL"]);
  assert.match(body.error.message, /failed with TypeError$/);
  assert.ok(!JSON.stringify([body, logged]).includes("secret@"));
  assert.ok(JSON.stringify(logged).includes("function.not_started"));
});

Deno.test("startApp() answers a preflight request of a function that has not started", async () => {
  const app = startApp(() => {
    throw new TypeError();
  }, () => {});

  const response = await app.fetch(new Request("http://test/", { method: "OPTIONS" }));

  assert.equal(response.status, 204);
});

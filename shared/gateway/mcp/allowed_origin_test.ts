import assert from "node:assert/strict";
import { assertOriginAllowed } from "./allowed_origin.ts";

const LOCAL = { projectUrl: "http://127.0.0.1:54321", allowedOrigins: [] };

Deno.test("a local project is reached under its public address and loopback, and under no other", () => {
  const policy = { ...LOCAL, publicUrl: "https://project.tunnel.test" };
  const ask = (host: string, origin?: string) => () =>
    assertOriginAllowed(
      new Request(`http://${host}/mcp`, origin === undefined ? {} : { headers: { origin } }),
      policy,
    );

  ask("project.tunnel.test")();
  ask("project.tunnel.test", "https://project.tunnel.test")();
  ask("localhost:54321", "http://localhost:5173")();
  assert.throws(ask("rebound.test"), { code: "FORBIDDEN" });
  assert.throws(ask("project.tunnel.test", "https://page.test"), { code: "FORBIDDEN" });
});

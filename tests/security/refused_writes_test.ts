import assert from "node:assert/strict";
import { grantScopes } from "../gateway/mcp/mcp_platform.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { readRelations } from "./catalogue.ts";

Deno.test("a write that nobody may make is refused as such, on every table and view", async () => {
  await using platform = await sharedPlatform();
  const { sql, project } = platform;
  const operator = await platform.addUser("writes");
  await grantScopes(sql, operator.id, ["admin:*"]);
  const callers = {
    operator: operator.headers,
    stranger: (await platform.addUser("writes-stranger")).headers,
    service: { apikey: platform.stack.secretKey },
  };
  const failed: string[] = [];
  for (const { name, kind, requiredColumn, writers } of await readRelations(sql)) {
    for (const [caller, headers] of Object.entries(callers)) {
      // The service may write tables.
      if (kind === "table" && (caller === "service" || writers.length > 0)) continue;
      for (const method of ["POST", "PATCH", "DELETE"]) {
        const filter = method === "POST" ? "" : `?${requiredColumn}=is.null`;
        const response = await fetch(`${project.apiUrl}/rest/v1/${name}${filter}`, {
          method,
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify({ [requiredColumn]: null }),
        });
        const text = await response.text();
        if (response.status !== 403) {
          failed.push(`${caller} ${method} ${name}: ${response.status} ${text}`);
        }
      }
    }
  }
  assert.deepEqual(failed, []);
});

import { afterEach, expect, test, vi } from "vitest";
import { openProject, projectSwarm } from "./project_client.ts";
import { parseProjectConfig } from "./project_config.ts";

afterEach(() => void vi.unstubAllGlobals());

test("a console with a schema reads it, and calls functions by the project's names", async () => {
  const requests: Request[] = [];
  vi.stubGlobal("fetch", (input: RequestInfo | URL, init?: RequestInit) => {
    requests.push(new Request(input, init));
    return Promise.resolve(Response.json({ servers: [] }));
  });
  const client = openProject(parseProjectConfig({
    api_url: "https://a.supabase.co",
    publishable_key: "sb_publishable_x",
    schema: "supaswarm",
    functions: { "mcp-execute": "supaswarm-mcp-execute" },
  }));

  await client.from("tasks").select("id");
  await projectSwarm().tools.list();

  expect(requests[0]?.headers.get("accept-profile")).toBe("supaswarm");
  expect(requests[1]?.url).toBe("https://a.supabase.co/functions/v1/supaswarm-mcp-execute");
});

test("config.json with a wrong schema or wrong names is refused", () => {
  const project = { api_url: "https://a.supabase.co", publishable_key: "sb_publishable_x" };

  expect(() => parseProjectConfig({ ...project, schema: 7 })).toThrow("schema must be");
  expect(() => parseProjectConfig({ ...project, functions: { mcp: 7 } })).toThrow("functions must");
});

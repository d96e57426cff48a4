import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { sharedPlatform } from "./shared_platform.ts";

const PAGE = "docs/reference/http.md";

/** A request that the page describes. */
interface DocumentedRequest {
  readonly method: string;
  /** With placeholders such as `<agent>`. */
  readonly path: string;
}

/** The headings of edge functions, with the text below each. */
function sectionsOf(page: string): { heading: string; body: string }[] {
  return page.split(/^## /m).slice(1).map((section) => {
    const [heading = "", ...body] = section.split("\n");
    return { heading, body: body.join("\n") };
  });
}

/**
 * The requests of a section: that of its heading, and those that its text writes as `METHOD /path`,
 * which is below the heading's path.
 */
function requestsOf({ heading, body }: ReturnType<typeof sectionsOf>[number]): DocumentedRequest[] {
  const [, method, base] = /`(?:(GET|POST|DELETE) )?(\/functions\/v1\/[^`]+)`/.exec(heading) ?? [];
  if (base === undefined) return [];
  const below = [...body.matchAll(/`(GET|POST|DELETE) ([^`\s]+(?: id>[^`\s]*)?)`/g)]
    .map(([, method = "", path = ""]) => ({ method, path: `${base}${path}` }));
  const own = method !== undefined
    ? [{ method, path: base }]
    : below.length === 0
    ? [{ method: "POST", path: base }]
    : [];
  return [...own, ...below].flatMap(({ method, path }) => {
    const [, start = path, optional = ""] = /^(.*)\[(.*)\]$/.exec(path) ?? [];
    return optional === ""
      ? [{ method, path: start }]
      : [{ method, path: start }, { method, path: start + optional }];
  });
}

/** Why a request has no route; null if a function answers it. */
async function routeProblem(
  { method, path }: DocumentedRequest,
  { apiUrl, secretKey }: { readonly apiUrl: string; readonly secretKey: string },
): Promise<string | null> {
  const url = apiUrl + path.replace("<server>", "swarm").replace("<agent>", "writer")
    .replace("<id>", crypto.randomUUID().replaceAll("-", ""))
    .replaceAll(/<[^>]+>/g, crypto.randomUUID());
  const answer = await fetch(url, {
    method,
    headers: { apikey: secretKey, "content-type": "application/json" },
    redirect: "manual",
    ...method === "GET" ? {} : { body: "{}" },
  });
  const text = await answer.text();
  const isRouted = answer.headers.has("x-request-id") && answer.status !== 405 &&
    !/FUNCTION_NOT_FOUND|Cannot answer the request: there is no/.test(text);
  return isRouted ? null : `${method} ${path}: ${answer.status} ${text}`;
}

Deno.test("every request on the page of the HTTP API has a route, and others have none", async (t) => {
  await using platform = await sharedPlatform();
  const project = { apiUrl: platform.project.apiUrl, secretKey: platform.stack.secretKey };
  const text = await Deno.readTextFile(join(PROJECT_ROOT, PAGE));
  const requests = sectionsOf(text).flatMap(requestsOf);
  const requestsTo = (name: string) =>
    new Set(
      requests.filter(({ path }) => RegExp(`^/functions/v1/${name}(/|$)`).test(path))
        .map(({ method, path }) => `${method} ${path}`),
    ).size;

  await t.step("the page has a section for each function", async () => {
    const functions: string[] = [];
    for await (const { name } of Deno.readDir(join(PROJECT_ROOT, "supabase/functions"))) {
      functions.push(name);
    }
    assert.deepEqual(functions.filter((name) => requestsTo(name) === 0), []);
    assert.equal(requestsTo("supaswarm-chat"), 6);
    assert.equal(requestsTo("mcp-oauth"), 5);
  });
  await t.step("no path begins with an ellipsis, which a reader cannot send", () => {
    assert.deepEqual(text.match(/`(?:GET|POST|DELETE) …[^`]*`/g), null);
  });
  await t.step("each has a route", async () => {
    const problems: string[] = [];
    for (const request of requests) {
      const problem = await routeProblem(request, project);
      if (problem !== null) problems.push(problem);
    }
    assert.deepEqual(problems, []);
  });
  await t.step("a path that is not on it has none", async () => {
    const base = "/functions/v1/supaswarm-chat/<agent>";
    for (
      const request of [
        { method: "POST", path: `${base}/<chat id>/stream` },
        { method: "GET", path: `${base}/<agent>/ag-ui` },
        { method: "GET", path: "/functions/v1/mcp-oauth/confirm" },
        { method: "POST", path: "/functions/v1/supaswarm-tasks" },
      ]
    ) {
      assert.notEqual(await routeProblem(request, project), null, request.path);
    }
  });
});

Deno.test("every database function on the page of the HTTP API exists with these arguments", async () => {
  await using platform = await sharedPlatform();
  const text = await Deno.readTextFile(join(PROJECT_ROOT, PAGE));
  const calls = [
    ...text.slice(text.indexOf("## RPC")).matchAll(/`([a-z]\w+)\(((?:p_\w+[^)`]*)?)\)`/g),
  ];
  const documented = calls.map(([, name = "", list = ""]) => ({
    name,
    arguments: [...list.matchAll(/\b(p_\w+)/g)].map(([argument]) => argument),
  }));

  const rows = await platform.sql`
    select proname as name, to_jsonb(proargnames) as arguments from pg_proc where pronamespace = 'public'::regnamespace`;

  const existing = new Map(rows.map((row) => [String(row.name), row.arguments as string[] | null]));
  const problems = documented.filter(({ name, arguments: named }) => {
    const declared = existing.get(name) ?? [];
    return !existing.has(name) || named.join() !== declared.slice(0, named.length).join();
  });
  assert.deepEqual(problems, []);
  assert.ok(documented.length > 40, `${documented.length}`);
});

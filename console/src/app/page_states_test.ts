import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { mount, type VueWrapper } from "@vue/test-utils";
import { VueQueryPlugin } from "@tanstack/vue-query";
import { watchConnection } from "../project/connection.ts";
import { projectClient } from "../project/project_client.ts";
import { watchSession } from "../project/session.ts";
import {
  type Answer,
  type FakeProject,
  type FakeRequest,
  json,
  openFakeProject,
} from "../testing/fake_project.ts";
import App from "./App.vue";
import { createQueryClient } from "./query_client.ts";
import { createConsoleRouter } from "./router.ts";

const JOB = "019aac3e-0b7f-7c3e-8a51-2f6e1d0b9c3f";
const REQUEST_ID = "req-42";
const PROBLEM = { code: "XX000", message: "The table is locked", hint: "Ask again in a minute" };
const USER = { id: "00000000-0000-4000-8000-000000000001", email: "ada@example.test" };

/** The empty state of each page, and the next action that it offers. */
const PAGES: readonly { readonly path: string; readonly title: string; readonly next: string }[] = [
  { path: "/jobs", title: "No jobs yet", next: "New job" },
  { path: "/jobs?status=failed", title: "No jobs match these filters", next: "Show all jobs" },
  { path: "/jobs/new", title: "No agents available", next: "Refresh" },
  { path: `/jobs/${JOB}`, title: "Job not found", next: "Show all jobs" },
  { path: "/reviews", title: "No open reviews", next: "Go to jobs" },
  { path: "/tools", title: "No tools available", next: "Refresh" },
  { path: "/tools?view=agents", title: "No agents", next: "Go to jobs" },
  { path: "/sql", title: "You cannot use the supabase server", next: "Show your tools" },
  { path: "/calls", title: "No calls yet", next: "Run a tool" },
  { path: "/usage", title: "No usage in this period", next: "New job" },
  { path: "/evals", title: "No eval runs yet", next: "Go to jobs" },
  { path: `/evals/${JOB}`, title: "Eval run not found", next: "Show all runs" },
  { path: "/documents", title: "You have no indexed repositories", next: "Refresh" },
  {
    path: "/operations?view=queue",
    title: "No worker runs",
    next: "New job",
  },
  { path: "/operations?view=stuck", title: "Nothing is stuck", next: "Show the queue" },
  { path: "/operations?view=failures", title: "No failures", next: "Show all jobs" },
  { path: "/operations?view=dead", title: "No dead letters", next: "Show failed jobs" },
  { path: "/operations?view=jobs", title: "No jobs yet", next: "New job" },
  { path: "/operations?view=servers", title: "No servers yet", next: "Show your tools" },
  { path: "/operations?view=acts", title: "No actions yet", next: "Show stuck tasks" },
  { path: "/setup", title: "No agents yet", next: "Show your agents" },
  { path: "/setup?kind=schedule", title: "No schedules yet", next: "Show your agents" },
  { path: "/settings", title: "No provider in this project needs a key", next: "each server" },
];

/** Addresses of objects that do not exist for the reader. */
const MISSING: readonly { readonly path: string; readonly text: string }[] = [
  { path: "/tools?server=gone", text: "Server gone not found" },
  { path: "/tools?server=notes&tool=gone", text: "Tool gone not found" },
  { path: "/tools?view=agents&agent=gone", text: "Agent gone not found" },
  { path: "/jobs/new?agent=gone", text: "Agent gone not found" },
  { path: `/jobs/new?from=${JOB}`, text: `Job ${JOB} not found` },
  { path: "/documents?project=gone", text: "Project gone not found" },
  { path: "/reviews?review=gone", text: "This question is no longer open" },
  { path: "/setup/agent/gone", text: "Agent gone not found" },
  { path: "/setup/robot/gone", text: "Definition gone not found" },
  { path: "/calls?id=gone", text: "Call not found" },
  { path: "/jobs/no-uuid", text: "Job not found" },
  { path: "/no/such/page", text: "This page does not exist" },
];

const router = createConsoleRouter();
const queries = createQueryClient();
let project: FakeProject;
let app: VueWrapper;

beforeAll(async () => {
  project = openFakeProject(emptyAnswer);
  localStorage.setItem("sb-project-auth-token", JSON.stringify(session()));
  watchConnection("http://project.test/auth/v1/settings");
  queries.setDefaultOptions({
    queries: { ...queries.getDefaultOptions().queries, retry: false, staleTime: 0 },
  });
  // The plugin treats Deno as a server, which never goes offline.
  queries.mount();
  await watchSession(queries);
  app = mountApp();
});

afterEach(() => setNetwork("online"));
afterAll(() => {
  app.unmount();
  vi.unstubAllGlobals();
});

function mountApp(): VueWrapper {
  return mount(App, {
    attachTo: document.body,
    global: { plugins: [[VueQueryPlugin, { queryClient: queries }], router] },
  });
}

/** Starts the app with an empty cache, also for what is not read again by a page. */
function mountAgain(answer: Answer): void {
  app.unmount();
  queries.clear();
  project.answer = answer;
  app = mountApp();
}

function session() {
  return {
    access_token: "header.payload.signature",
    refresh_token: "refresh",
    token_type: "bearer",
    expires_in: 3_600,
    expires_at: Math.floor(Date.now() / 1_000) + 3_600,
    user: { ...USER, aud: "authenticated", app_metadata: {}, user_metadata: {}, created_at: "" },
  };
}

/** An empty project. Its user is an operator, except on a job, which might be another user's. */
function emptyAnswer({ path, method, query }: FakeRequest): Response {
  if (path === "/rest/v1/mcp_grants") {
    const isOnJob = router.currentRoute.value.path.startsWith("/jobs/");
    return json(isOnJob ? [] : [{ scopes: ["swarm:operate"] }]);
  }
  if (path === "/functions/v1/mcp-execute") {
    return json(query.has("server") ? serverDetail() : { servers: [] });
  }
  if (method === "HEAD") return new Response(null, { headers: { "content-range": "*/0" } });
  return json(path.startsWith("/rest/") ? [] : { external: { email: true } });
}

/** A project with one of each object that an address can name. */
function filledAnswer(request: FakeRequest): Response {
  const { path, query } = request;
  if (path === "/functions/v1/mcp-execute" && !query.has("server")) {
    return json({ servers: [serverDetail().server] });
  }
  if (path === "/rest/v1/agents") return json([agent()]);
  if (path === "/rest/v1/projects") return json([{ id: "p", slug: "docs", github_repo: null }]);
  return emptyAnswer(request);
}

function serverDetail() {
  return {
    server: { slug: "notes", name: "Notes", description: null, status: "healthy", tools: [] },
    instructions: null,
    connection: { failure_count: 0, last_success_at: null, retry_at: null },
    tools: [],
    dropped: [],
    quarantined: [],
  };
}

function agent() {
  return {
    slug: "writer",
    name: "Writer",
    agent_tools: [],
    agent_skills: [],
    agent_handoffs: [],
    provider: null,
  };
}

/** Errors of the database are the whole body; errors of functions are in `error`. */
const failingAnswer: Answer = ({ path }) =>
  json(path.startsWith("/functions/") ? { error: PROBLEM } : PROBLEM, {
    status: 400,
    headers: { "x-request-id": REQUEST_ID },
  });

/** Goes to a page with an empty cache. */
async function open(path: string, answer: Answer): Promise<void> {
  project.answer = emptyAnswer;
  await router.push("/no/such/page");
  queries.clear();
  project.answer = answer;
  await router.push(path);
}

function setNetwork(state: "online" | "offline"): void {
  vi.spyOn(navigator, "onLine", "get").mockReturnValue(state === "online");
  dispatchEvent(new Event(state));
}

/** Polls often, because there are many pages and each loads quickly. */
function until(assertion: () => void): Promise<void> {
  return vi.waitFor(assertion, { interval: 5, timeout: 5_000 });
}

/** The text of the page, with collapsed spaces. */
function shown(selector = "main"): string {
  return app.findAll(selector).map((found) => found.text()).join(" ").replace(/\s+/g, " ");
}

function offers(name: string): boolean {
  return app.findAll("main a, main button").some((found) => found.text() === name);
}

describe.each(PAGES)("$path", ({ path, title, next }) => {
  test("shows a skeleton while it waits", async () => {
    await open(path, () => undefined);

    await until(() => expect(shown("main [role=status]")).toContain("Loading"));
    expect(app.find("main [role=alert]").exists()).toBe(false);
  });

  test("shows that it is empty, and what to do next", async () => {
    await open(path, emptyAnswer);

    await until(() => expect(shown()).toContain(title));
    expect(offers(next)).toBe(true);
    expect(app.find("main .skeleton").exists()).toBe(false);
  });

  test("shows an error with code, hint and request, and retries", async () => {
    await open(path, failingAnswer);
    await until(() => expect(shown("main [role=alert]")).toContain(PROBLEM.message));
    const problem = shown("main [role=alert]");
    for (const part of [PROBLEM.code, PROBLEM.hint, REQUEST_ID]) expect(problem).toContain(part);

    project.answer = emptyAnswer;
    for (const found of app.findAll("main [role=alert] button")) await found.trigger("click");

    await until(() => expect(shown()).toContain(title));
    await until(() => expect(app.find("main [role=alert]").exists()).toBe(false));
  });

  test("keeps its data while offline and shows its age", async () => {
    await open(path, emptyAnswer);
    await until(() => expect(shown()).toContain(title));

    setNetwork("offline");

    await until(() => expect(shown(".banner")).toContain("This device is offline"));
    // A missing job shows no data that could be old.
    if (!path.startsWith("/jobs/0")) expect(shown()).toMatch(/Shown as of/);
    expect(shown()).toContain(title);
  });

  test("waits for the network when it is opened offline, and then loads automatically", async () => {
    setNetwork("offline");
    await open(path, emptyAnswer);
    await until(() => expect(shown()).toContain("has not loaded yet"));

    setNetwork("online");

    await until(() => expect(shown()).toContain(title));
    expect(app.find(".banner").exists()).toBe(false);
  });
});

test.each(["/operations?view=dead", "/setup/agent/writer"])(
  "%s says to users that it is for operators",
  async (path) => {
    await router.push(path);
    mountAgain((request) =>
      request.path === "/rest/v1/mcp_grants" ? json([]) : filledAnswer(request)
    );

    await until(() => expect(shown()).toContain("Only operators see this page"));
    expect(app.find("main [role=alert]").exists()).toBe(false);
    expect(offers("Go to jobs")).toBe(true);
    mountAgain(emptyAnswer);
  },
);

test.each(MISSING)("$path reports what is missing", async ({ path, text }) => {
  await open(path, filledAnswer);

  await until(() => expect(shown()).toContain(text));
});

test.each(PAGES)(
  "$path redirects to the sign-in page when the session ends, and back",
  async ({ path }) => {
    await open(path, emptyAnswer);
    await projectClient().auth.signOut({ scope: "local" });
    await until(() => expect(router.currentRoute.value.path).toBe("/sign-in"));
    expect(router.currentRoute.value.query.next).toBe(path);
    await until(() => expect(shown()).toContain("Sign in to SupaSwarm"));

    project.answer = (request) =>
      request.path === "/auth/v1/token" ? json(session()) : emptyAnswer(request);
    await projectClient().auth.signInWithPassword({ email: USER.email, password: "secret-12" });

    await until(() => expect(router.currentRoute.value.fullPath).toBe(path));
  },
);

test("nothing is read from the database before somebody has signed in", async () => {
  await open("/jobs", emptyAnswer);
  await projectClient().auth.signOut({ scope: "local" });
  await until(() => expect(router.currentRoute.value.path).toBe("/sign-in"));
  const reads: string[] = [];

  mountAgain((request) => {
    if (request.path.startsWith("/rest/")) reads.push(request.path);
    return emptyAnswer(request);
  });

  await until(() => expect(shown()).toContain("Sign in to SupaSwarm"));
  expect(reads).toEqual([]);
});

import { vi } from "vitest";
import { openProject, type ProjectClient } from "../project/project_client.ts";

const API_URL = "http://project.test";

/** Answers a request; `undefined` keeps it open until it is aborted. */
export type Answer = (request: FakeRequest) => Response | undefined | Promise<Response | undefined>;

/** A request of the console. */
export interface FakeRequest {
  readonly method: string;
  /** Without the origin, such as `/rest/v1/tasks`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The parsed JSON body. */
  readonly body: Record<string, unknown>;
}

/** A project whose answers a test provides, and that records its requests. */
export interface FakeProject {
  readonly requests: readonly FakeRequest[];
  answer: Answer;
  /** How often a path was requested. */
  count(path: string): number;
}

let client: ProjectClient | undefined;

/** Opens a fake project; nothing reaches the network. */
export function openFakeProject(answer: Answer): FakeProject {
  const requests: FakeRequest[] = [];
  const project: FakeProject = {
    requests,
    answer,
    count: (path) => requests.filter((request) => request.path === path).length,
  };
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = new URL(String(input), API_URL);
    const request: FakeRequest = {
      method: init?.method ?? "GET",
      path: url.pathname,
      query: url.searchParams,
      body: typeof init?.body === "string" ? JSON.parse(init.body) : {},
    };
    requests.push(request);
    return await project.answer(request) ?? await untilAborted(init?.signal);
  });
  vi.stubGlobal("WebSocket", SilentSocket);
  // Two clients of one project would log warnings about each other.
  client ??= openProject({ apiUrl: API_URL, publishableKey: "sb_publishable_test" });
  return project;
}

/** A JSON answer. */
export function json(body: unknown, init?: ResponseInit): Response {
  return Response.json(body, init);
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });
}

/** A socket that never opens. */
class SilentSocket extends EventTarget {
  readonly readyState = 0;
  send(): void {}
  close(): void {}
}

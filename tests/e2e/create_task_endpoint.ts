import { z } from "../../shared/vendor/zod.js";
import type { DemoUser, Project } from "../../scripts/demo/user_client.ts";

const ENDPOINT = "/functions/v1/supaswarm-create-task";

const createdSchema = z.object({
  task_id: z.string(),
  master_task_id: z.string(),
  status: z.string(),
  channels: z.object({ task: z.string(), master: z.string() }),
});
const refusedSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string(),
    details: z.unknown().optional(),
  }),
});

/** The endpoint's response. */
export interface EndpointAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Sends any request to the endpoint; a body that is not a string is sent as JSON. */
export async function sendRequest(
  { apiUrl }: Pick<Project, "apiUrl">,
  request: {
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly method?: string;
    readonly endpoint?: string;
  },
): Promise<EndpointAnswer> {
  const { body, headers = {}, method = "POST", endpoint = ENDPOINT } = request;
  const response = await fetch(`${apiUrl}${endpoint}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) };
}

/** The headers of a signed-in user. */
export function userHeaders(project: Project, user: DemoUser): Record<string, string> {
  return { apikey: project.publishableKey, authorization: `Bearer ${user.accessToken}` };
}

/** The answer of an accepted request. @throws ZodError if it was refused. */
export function created(answer: EndpointAnswer): z.infer<typeof createdSchema> {
  return createdSchema.parse(answer.body);
}

/** The error of a refused request. @throws ZodError if it was accepted. */
export function refused(answer: EndpointAnswer): z.infer<typeof refusedSchema>["error"] {
  return refusedSchema.parse(answer.body).error;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // The test rejects an answer that is not JSON.
  }
}

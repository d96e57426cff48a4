import { z } from "../../shared/vendor/zod.js";
import { authError, jsonAnswer } from "./answers.ts";
import type { Caller } from "./caller.ts";
import { type UserAttributes, userAttributesSchema } from "./user_attributes.ts";
import type { UserDirectory } from "./user_directory.ts";

const PATH = /^\/auth\/v1\/admin\/users(?:\/([^/]+))?\/?$/;

const pageSchema = z.object({
  page: z.coerce.number().int().min(1).catch(1),
  per_page: z.coerce.number().int().min(1).max(1000).catch(50),
});

const deletionSchema = z.object({ should_soft_delete: z.boolean().default(false) }).catch({
  should_soft_delete: false,
});

/** Handles `/auth/v1/admin/users*` (supabase-js `auth.admin`). Requires the secret key. */
export async function handleAdminUsers(
  request: Request,
  caller: Caller,
  users: UserDirectory,
): Promise<Response> {
  if (caller.kind === "anon") {
    return authError(401, "no_authorization", "This endpoint requires a valid Bearer token");
  }
  if (caller.kind === "user") return authError(403, "not_admin", "User not allowed");
  const url = new URL(request.url);
  const match = PATH.exec(url.pathname);
  if (match === null) return authError(404, "not_found", "This admin endpoint is not provided");
  const id = match[1];
  if (id === undefined) {
    if (request.method === "GET") return await listUsers(url, users);
    if (request.method === "POST") return await createUser(request, users);
  } else {
    if (!z.uuid().safeParse(id).success) {
      return authError(404, "validation_failed", "user_id must be an UUID");
    }
    if (request.method === "GET") return userAnswer(await users.find(id));
    if (request.method === "PUT") return await updateUser(request, id, users);
    if (request.method === "DELETE") return await deleteUser(request, id, users);
  }
  return authError(405, "method_not_allowed", `${request.method} is not allowed here`);
}

async function listUsers(url: URL, users: UserDirectory): Promise<Response> {
  const { page, per_page } = pageSchema.parse({
    page: url.searchParams.get("page") ?? undefined,
    per_page: url.searchParams.get("per_page") ?? undefined,
  });
  const found = await users.list(page, per_page);
  const lastPage = Math.max(1, Math.ceil(found.userCount / per_page));
  const link = (to: number, rel: string) =>
    `<${url.pathname}?page=${to}&per_page=${per_page}>; rel="${rel}"`;
  const links = [...(page < lastPage ? [link(page + 1, "next")] : []), link(lastPage, "last")];
  return jsonAnswer(200, { users: found.users, aud: "authenticated" }, {
    "x-total-count": String(found.userCount),
    link: links.join(", "),
  });
}

async function createUser(request: Request, users: UserDirectory): Promise<Response> {
  const attributes = await readAttributes(request);
  if (attributes instanceof Response) return attributes;
  if (attributes.email === undefined && attributes.phone === undefined) {
    return authError(
      400,
      "validation_failed",
      "Cannot create a user without either an email or phone",
    );
  }
  return await refuseTakenEmail(attributes, null, users) ??
    userAnswer(await users.create(attributes));
}

async function updateUser(request: Request, id: string, users: UserDirectory): Promise<Response> {
  const attributes = await readAttributes(request);
  if (attributes instanceof Response) return attributes;
  return await refuseTakenEmail(attributes, id, users) ??
    userAnswer(await users.update(id, attributes));
}

async function deleteUser(request: Request, id: string, users: UserDirectory): Promise<Response> {
  const { should_soft_delete } = deletionSchema.parse(await request.json().catch(() => ({})));
  if (should_soft_delete) {
    return authError(501, "not_implemented", "Soft deletion of users is not provided here");
  }
  return await users.remove(id) ? jsonAnswer(200, {}) : userAnswer(null);
}

async function refuseTakenEmail(
  { email }: UserAttributes,
  exceptId: string | null,
  users: UserDirectory,
): Promise<Response | null> {
  if (email === undefined || !await users.isEmailTaken(email, exceptId)) return null;
  return authError(
    422,
    "email_exists",
    "A user with this email address has already been registered",
  );
}

async function readAttributes(request: Request): Promise<UserAttributes | Response> {
  const parsed = userAttributesSchema.safeParse(await request.json().catch(() => null));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return authError(400, "validation_failed", `${issue?.path.join(".")}: ${issue?.message}`);
}

function userAnswer(user: Awaited<ReturnType<UserDirectory["find"]>>): Response {
  return user === null ? authError(404, "user_not_found", "User not found") : jsonAnswer(200, user);
}

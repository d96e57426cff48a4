import { QueryClient } from "@tanstack/vue-query";
import { afterAll, expect, test, vi } from "vitest";
import { projectClient } from "../../project/project_client.ts";
import { userId, watchSession } from "../../project/session.ts";
import { json, openFakeProject } from "../../testing/fake_project.ts";
import { draftLeft, draftOf, keepDraft } from "./definition_draft.ts";

afterAll(() => {
  vi.unstubAllGlobals();
});

test("a draft is there for the user who left it, and for nobody who signs in afterwards", async () => {
  openFakeProject(({ path, body }) =>
    json(path === "/auth/v1/token" ? sessionOf(String(body["email"])) : {})
  );
  await watchSession(new QueryClient());
  const draft = { ...draftOf("agent", null), slug: "writer", text: "Our secret plan" };

  await signIn("ada");
  keepDraft(null, draft);
  expect(draftLeft("agent", null)).toEqual(draft);
  await signIn("eve");
  expect(draftLeft("agent", null)).toBeUndefined();
  await signIn("ada");
  expect(draftLeft("agent", null)).toEqual(draft);
});

async function signIn(email: string): Promise<void> {
  await projectClient().auth.signInWithPassword({ email, password: "secret-12" });
  await vi.waitFor(() => expect(userId.value).toBe(email));
}

function sessionOf(email: string) {
  return {
    access_token: "header.payload.signature",
    refresh_token: "refresh",
    token_type: "bearer",
    expires_in: 3_600,
    expires_at: Math.floor(Date.now() / 1_000) + 3_600,
    user: {
      id: email,
      email,
      aud: "authenticated",
      app_metadata: {},
      user_metadata: {},
      created_at: "",
    },
  };
}

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { type FakeProject, json, openFakeProject } from "../../testing/fake_project.ts";
import FollowUpForm from "./FollowUpForm.vue";

const CONTINUE = "/rest/v1/rpc/continue_task";

let project: FakeProject;
let form: VueWrapper;

beforeEach(() => {
  project = openFakeProject(() => json("pending"));
  form = mount(FollowUpForm, {
    attachTo: document.body,
    props: { jobId: "job-1" },
    global: { plugins: [[VueQueryPlugin, { queryClient: new QueryClient() }]] },
  });
});

afterEach(() => {
  form.unmount();
  vi.unstubAllGlobals();
});

describe("the follow-up form", () => {
  test("sends nothing while the message is blank", async () => {
    await form.get("textarea").setValue("  \n");
    expect(form.get("button").attributes("disabled")).toBeDefined();

    await form.get("form").trigger("submit");

    expect(project.requests).toEqual([]);
  });

  test.each(["ctrlKey", "metaKey"])("sends the message once by %s and Enter", async (modifier) => {
    await form.get("textarea").setValue("And in French?");
    await form.get("textarea").trigger("keydown", { key: "Enter", [modifier]: true });
    await form.get("textarea").trigger("keydown", { key: "Enter", [modifier]: true });

    await vi.waitFor(() => expect(form.emitted("sent")).toHaveLength(1));
    expect(project.requests.map(({ path, body }) => ({ path, body }))).toEqual([
      { path: CONTINUE, body: { p_task_id: "job-1", p_input: "And in French?" } },
    ]);
    expect(form.get("textarea").element.value).toBe("");
  });

  test("keeps a refused message and shows the reason", async () => {
    project.answer = () =>
      json({ message: "It has used all of its 40 steps", details: "STEPS_EXCEEDED" }, {
        status: 422,
      });
    await form.get("textarea").setValue("And in French?");

    await form.get("form").trigger("submit");

    await vi.waitFor(() => expect(form.get("[role=alert]").text()).toContain("STEPS_EXCEEDED"));
    expect(form.get("textarea").element.value).toBe("And in French?");
    expect(form.emitted("sent")).toBeUndefined();
  });
});

import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { flushPromises, mount } from "@vue/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isSignedIn } from "../../project/session.ts";
import { json, openFakeProject } from "../../testing/fake_project.ts";
import PauseButton from "./PauseButton.vue";

vi.mock("../../project/session.ts", async () => {
  const { ref } = await import("vue");
  return { isSignedIn: ref(true), userId: ref("11111111-1111-4111-8111-111111111111") };
});

const PAUSE = {
  kind: "agent",
  name: "writer",
  reason: "It loops",
  running: "finish",
  paused_at: "2026-11-27T08:00:00Z",
  ends_at: null,
  paused_by: "ops@example.test",
  waiting_count: 3,
};

let scopes: readonly string[] = [];
let paused: readonly (typeof PAUSE)[] = [];

beforeEach(() => {
  expect(isSignedIn.value).toBe(true);
  scopes = ["swarm:operate"];
  paused = [];
});
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.innerHTML = "";
});

async function show() {
  const project = openFakeProject(({ path }) => {
    if (path === "/rest/v1/paused_work") return json(paused);
    if (path === "/rest/v1/mcp_grants") return json([{ scopes }]);
    return json(path.endsWith("resume_work") ? true : "2026-11-27T08:00:00Z");
  });
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const button = mount(PauseButton, {
    props: { kind: "agent" as const, name: "writer" },
    attachTo: document.body,
    global: { plugins: [[VueQueryPlugin, { queryClient }]] },
  });
  await vi.waitFor(() => expect(project.count("/rest/v1/paused_work")).toBe(1));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await flushPromises();
  return { project, button };
}

test("an operator pauses an agent with a reason and the choice for running tasks", async () => {
  const { project, button } = await show();

  await button.get("button").trigger("click");
  await vi.waitFor(() => expect(document.querySelector("#pause")).not.toBe(null));
  const reason = document.querySelector<HTMLInputElement>("#pause input:not([type=radio])");
  if (reason === null) throw new Error("no field for the reason");
  reason.value = " It loops ";
  reason.dispatchEvent(new Event("input"));
  document.querySelector<HTMLInputElement>("input[value=cut]")?.click();
  await flushPromises();
  document.querySelector("#pause")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(project.count("/rest/v1/rpc/pause_work")).toBe(1));

  const request = project.requests.find(({ path }) => path.endsWith("pause_work"));
  expect(request?.body).toEqual({
    p_kind: "agent",
    p_name: "writer",
    p_reason: "It loops",
    p_running: "cut",
    p_until: null,
  });
  button.unmount();
});

test("what is paused can be resumed", async () => {
  paused = [PAUSE];
  const { project, button } = await show();

  expect(button.get("button").text()).toBe("Resume");
  await button.get("button").trigger("click");
  await vi.waitFor(() => expect(project.count("/rest/v1/rpc/resume_work")).toBe(1));

  const request = project.requests.find(({ path }) => path.endsWith("resume_work"));
  expect(request?.body).toEqual({ p_kind: "agent", p_name: "writer" });
  button.unmount();
});

test("users who are no operators get no button", async () => {
  scopes = ["swarm:run"];
  const { button } = await show();

  expect(button.find("button").exists()).toBe(false);
  button.unmount();
});

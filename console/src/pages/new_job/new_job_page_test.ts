import { afterEach, expect, test, vi } from "vitest";
import { flushPromises, mount, type VueWrapper } from "@vue/test-utils";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { createMemoryHistory, createRouter } from "vue-router";
import { json, openFakeProject } from "../../testing/fake_project.ts";
import NewJobPage from "./NewJobPage.vue";

vi.mock("../../project/session.ts", async () => {
  const { computed } = await import("vue");
  return { userId: computed(() => "user"), isSignedIn: computed(() => true) };
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A project with the agents `writer` and `tester`, whose jobs have their own names as inputs. */
function openProject() {
  openFakeProject(({ path, query }) => {
    if (path === "/rest/v1/agents") {
      return json(["writer", "tester"].map((slug) => ({ id: slug, slug, name: slug })));
    }
    const id = query.get("id")?.replace("eq.", "");
    if (id === undefined) return json([]);
    return json([{ agent_slug: "writer", input: `Input of ${id}`, priority: "low", metadata: {} }]);
  });
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: "/:path(.*)*", component: { template: "" } }],
  });
  const show = async (address: string) => {
    await router.push(address);
    const page = mount(NewJobPage, {
      global: { plugins: [[VueQueryPlugin, { queryClient }], router] },
    });
    await vi.waitFor(() => expect(page.find("textarea").exists()).toBe(true));
    await settled();
    return page;
  };
  const settled = async () => {
    await flushPromises();
    await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
    await flushPromises();
  };
  return { queryClient, router, show, settled };
}

function inputOf(page: VueWrapper): string {
  return page.get<HTMLTextAreaElement>("#input-text").element.value;
}

test("the input of an earlier job can be changed while other jobs change", async () => {
  const { queryClient, show, settled } = openProject();
  const page = await show("/jobs/new?from=a");
  expect(inputOf(page)).toBe("Input of a");
  await page.get("#input-text").setValue("A better input");

  // As after each change of one of the user's jobs.
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
  await settled();

  expect(inputOf(page)).toBe("A better input");
  page.unmount();
});

test("a job is run again from its own input, also after another one", async () => {
  const { show } = openProject();
  for (const id of ["a", "b", "a"]) {
    const page = await show(`/jobs/new?from=${id}`);
    expect(inputOf(page)).toBe(`Input of ${id}`);
    page.unmount();
  }
});

test("another agent in the address is chosen, as from the command palette", async () => {
  const { router, show, settled } = openProject();
  const page = await show("/jobs/new?agent=writer");
  const agent = () => page.get<HTMLSelectElement>("#agent").element.value;
  expect(agent()).toBe("writer");

  await router.push("/jobs/new?agent=tester");
  await settled();
  expect(agent()).toBe("tester");
  page.unmount();
});

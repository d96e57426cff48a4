import { type Component } from "vue";
import { QueryClient, VueQueryPlugin } from "@tanstack/vue-query";
import { flushPromises, mount, RouterLinkStub, type VueWrapper } from "@vue/test-utils";
import { expect, vi } from "vitest";
import { json, openFakeProject } from "./fake_project.ts";

/** Mounts a component, and waits until its request is answered with these rows, others with none. */
export async function mountAnswered(
  component: Component,
  { path, rows }: { readonly path: string; readonly rows: readonly unknown[] },
): Promise<VueWrapper> {
  const project = openFakeProject((request) => json(request.path === path ? rows : []));
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = mount(component, {
    global: {
      plugins: [[VueQueryPlugin, { queryClient }]],
      stubs: { RouterLink: RouterLinkStub },
    },
  });
  await vi.waitFor(() => expect(project.count(path)).toBe(1));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await flushPromises();
  return wrapper;
}

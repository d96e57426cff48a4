import { loadVue } from "../deps.ts";
// Runs in the process of the tests that share a platform, see CONTRIBUTING.md.
import "../gateway/mcp/shared_platform.ts";
import { type Mount, type PageActions, pageText, proveHooks } from "./prove_hooks.ts";

Deno.test("the composables for Vue show and steer jobs", async (t) => {
  await proveHooks(t, { name: "vue", mount });
});

const mount: Mount = async (root, swarm, id) => {
  // Loaded here, because Vue looks for a document when it is loaded.
  const { createApp, h, reactive, ref } = await loadVue();
  const { useJob, useReviews } = await import("../../client/vue.ts");
  const shownId = ref(id);
  const used: { actions?: PageActions } = {};
  const app = createApp({
    setup() {
      const job = useJob(swarm, shownId);
      const { reviews: inbox } = useReviews(swarm);
      used.actions = job;
      const shown = reactive({ ...job, inbox });
      return () => pageText(shown as never).map(([id, text]) => h("p", { id }, text));
    },
  });
  app.mount(root as never);
  return {
    show: (next) => shownId.value = next,
    get actions() {
      if (used.actions === undefined) throw new Error("The page has not been mounted");
      return used.actions;
    },
    unmount: () => app.unmount(),
  };
};

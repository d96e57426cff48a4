import { useJob, useReviews } from "../../client/react.ts";
import { loadReact } from "../deps.ts";
// Runs in the process of the tests that share a platform, see CONTRIBUTING.md.
import "../gateway/mcp/shared_platform.ts";
import { type Mount, type PageActions, pageText, proveHooks } from "./prove_hooks.ts";

Deno.test("the hooks for React show and steer jobs, in StrictMode too", async (t) => {
  await proveHooks(t, { name: "react", mount });
});

const mount: Mount = async (root, swarm, id) => {
  // Loaded here, because React looks for a document when it is loaded.
  const { createElement, createRoot, Fragment, StrictMode } = await loadReact();
  let actions: PageActions | undefined;
  function Page({ id }: { readonly id: string | null }) {
    const job = useJob(swarm, id);
    const { reviews: inbox } = useReviews(swarm);
    actions = job;
    const shown = pageText({ ...job, inbox });
    return createElement(
      Fragment,
      null,
      ...shown.map(([id, text]) => createElement("p", { id, key: id }, text)),
    );
  }
  const reactRoot = createRoot(root as never);
  const show = (id: string | null) =>
    reactRoot.render(createElement(StrictMode, null, createElement(Page, { id })));
  show(id);
  return {
    show,
    get actions() {
      if (actions === undefined) throw new Error("The page has not been rendered");
      return actions;
    },
    unmount: () => reactRoot.unmount(),
  };
};

import assert from "node:assert/strict";
import type { Swarm } from "../../client/mod.ts";
import { createSwarm } from "../../client/mod.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { staleFiles } from "../../scripts/generate/generated_files.ts";
import { registryFiles } from "../../scripts/generate/registry.ts";
import { buildRegistry } from "../../scripts/registry/build_registry.ts";
import { loadReact, loadRegistrySchemas, type PageElement } from "../deps.ts";
import { addAgent } from "../e2e/operator.ts";
import { call, scriptTurns } from "../e2e/script.ts";
import { untilTask } from "../e2e/task_view.ts";
import { sharedPlatform } from "../gateway/mcp/shared_platform.ts";
import { openPage } from "../hooks/open_page.ts";
import { importComponents, installItems } from "./install_items.ts";
import { untilShown, write } from "../hooks/use_page.ts";

const COMPONENTS = ["task-chat", "review-inbox", "job-trace"];

Deno.test("the registry follows the official schemas, without a field that they do not know", async () => {
  const { registryItemSchema, registrySchema } = await loadRegistrySchemas();
  for (const { path, text } of await buildRegistry()) {
    const schema = path.endsWith("/registry.json") ? registrySchema : registryItemSchema;
    const value = JSON.parse(text);
    assert.deepEqual(schema.parse(value), value, path);
  }
});

Deno.test("the built files are those of the sources", async () => {
  assert.deepEqual(await staleFiles(await registryFiles()), []);
});

Deno.test("the components and hooks compile with the types of React", async () => {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--config", "registry/deno.json", "registry"],
    cwd: PROJECT_ROOT,
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
});

Deno.test("the installed components start, show, answer and continue a job", async (t) => {
  await using page = await openPage();
  await using platform = await sharedPlatform();
  const { sql, stack } = platform;
  stack.models.addAgent(scriptTurns(
    "registry-chat",
    call("request_human_review", { question: "Which?", options: ["first", "second"] }),
    { text: "The answer is ready." },
    { text: "And again." },
  ));
  await addAgent(sql, { slug: "registry-chat" });
  const { user: { client: supabase } } = await platform.addUser("registry");
  const swarm = createSwarm(supabase);
  const project = await Deno.makeTempDir({ prefix: "supaswarm-registry-" });
  const { createElement, createRoot, StrictMode } = await loadReact();
  try {
    await installItems(project, COMPONENTS);
    const components = await importComponents(project, COMPONENTS);
    const show = (name: string, props: object) => {
      const root = createRoot(page.root as never);
      root.render(createElement(StrictMode, null, createElement(components[name] as never, props)));
      return root;
    };
    const { root } = page;
    let jobId = "";

    await t.step("task chat", async () => {
      const chat = show("TaskChat", {
        swarm: swarm satisfies Swarm,
        agent: "registry-chat",
        onStart: (id: string) => jobId = id,
      });
      await untilShown(root, "Send");
      write(root, "input", "Write it");
      root.querySelector("form")?.requestSubmit();
      await untilShown(root, /You: Write it.*Which\?/s);
      assert.deepEqual(unlabeledFields(root), []);
      root.querySelectorAll<PageElement>("input[type=radio]")[1]?.click();
      write(root, "textarea", "Take this");
      root.querySelector<PageElement>("form button[type=submit]")?.click();
      await untilShown(root, /Agent: The answer is ready\..*Send/s);
      const [review] = await sql`
        select response, comments from public.human_reviews where task_id = ${jobId}::uuid`;
      assert.deepEqual(review, { response: { choice: "second" }, comments: "Take this" });

      write(root, "input", "Once more");
      root.querySelector("form")?.requestSubmit();
      await untilShown(root, /You: Write it.*is ready\.You: Once more.*Agent: And again\./s);
      assert.equal(root.textContent?.split("And again.").length, 2, "an answer is shown once");
      chat.unmount();
    });

    await t.step("task chat shows a stored conversation again", async () => {
      const chat = show("TaskChat", { swarm, agent: "registry-chat", jobId });
      await untilShown(root, /You: Write it.*You: Once more.*Agent: And again\./s);
      chat.unmount();
    });

    await t.step("job trace", async () => {
      const trace = show("JobTrace", { swarm, jobId });
      await untilShown(root, /completed.*Model call.*Review: Which\?/s);
      assert.ok(root.querySelectorAll("details").length >= 4);
      trace.unmount();
    });

    await t.step("review inbox", async () => {
      const job = await swarm.run("registry-chat", "Ask me");
      const inbox = show("ReviewInbox", { swarm });
      await untilShown(root, /1 review is waiting\..*Which\?/s);
      assert.deepEqual(unlabeledFields(root), []);
      root.querySelector<PageElement>("form button[type=submit]")?.click();
      await untilShown(root, "No reviews are waiting.");
      await untilTask(sql, job.id, "completed");
      inbox.unmount();
    });
  } finally {
    await Deno.remove(project, { recursive: true });
    await supabase.realtime.disconnect();
  }
});

/** Fields without a label that a screen reader finds. */
function unlabeledFields(root: PageElement): string[] {
  return [...root.querySelectorAll<PageElement>("input, textarea")]
    .filter((field) => field.closest("label") === null)
    .filter((field) => root.querySelector(`label[for="${field.id}"]`) === null)
    .map((field) => field.outerHTML);
}

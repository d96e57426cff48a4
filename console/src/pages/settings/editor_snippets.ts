import type { ProjectConfig } from "../../project/project_config.ts";

/** Something to paste elsewhere. */
export interface Snippet {
  readonly title: string;
  readonly text: string;
  readonly hint?: string;
}

/** How editors and programs reach the project. */
export function editorSnippets({ apiUrl, publishableKey }: ProjectConfig): Snippet[] {
  const url = `${apiUrl}/functions/v1/mcp`;
  return [
    {
      title: "Claude Code",
      text: `claude mcp add --transport http supaswarm ${url}`,
      hint: "It opens a page to sign in with the first use.",
    },
    {
      title: "Cursor and VS Code (mcp.json)",
      text: JSON.stringify({ mcpServers: { supaswarm: { type: "http", url } } }, null, 2),
      hint: "VS Code calls the first key servers.",
    },
    {
      title: "supabase-js",
      text: `import { createClient } from "@supabase/supabase-js";

const project = createClient("${apiUrl}", "${publishableKey}");
await project.auth.signInWithPassword({ email, password });
const { data, error } = await project.functions.invoke("supaswarm-create-task", {
  body: { agent: "<slug>", input: "What is to be done" },
});`,
    },
  ];
}

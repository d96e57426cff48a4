import { readableJson } from "../../format/json_text.ts";
import type { ProjectConfig } from "../../project/project_config.ts";

/** A snippet for another app. */
export interface Snippet {
  readonly title: string;
  readonly text: string;
  readonly hint?: string;
}

/** How editors and programs connect to the project. */
export function editorSnippets({ apiUrl, publishableKey }: ProjectConfig): Snippet[] {
  const url = `${apiUrl}/functions/v1/mcp`;
  return [
    {
      title: "Claude Code",
      text: `claude mcp add --transport http supaswarm ${url}`,
      hint: "The first use opens a sign-in page.",
    },
    {
      title: "Cursor and VS Code (mcp.json)",
      text: readableJson({ mcpServers: { supaswarm: { type: "http", url } } }),
      hint: "In VS Code the first key is servers.",
    },
    {
      title: "supabase-js",
      text: `import { createClient } from "@supabase/supabase-js";

const project = createClient("${apiUrl}", "${publishableKey}");
await project.auth.signInWithPassword({ email, password });
const { data, error } = await project.functions.invoke("supaswarm-create-task", {
  body: { agent: "<slug>", input: "What the agent should do" },
});`,
    },
  ];
}

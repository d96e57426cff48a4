// deno-lint-ignore-file explicit-module-boundary-types -- each loader has the type of its package
/** Every third-party package that only tests use, named once, pinned and loaded on demand. */

import { fileURLToPath } from "node:url";

export const loadFastCheck = () => import("npm:fast-check@4.10.2");
/** An authorization server; the package has no types. */
export const loadOidcProvider = () => import("npm:oidc-provider@9.13.3");
export const loadMcpClient = () => import("npm:@modelcontextprotocol/client@2.4.0");
/** The schemas of the protocol and of its authorization. */
export const loadMcpSchemas = () => import("npm:@modelcontextprotocol/core@2.4.0");
export const loadMcpServer = () => import("npm:@modelcontextprotocol/server@2.4.0");
export const loadSupabaseServer = () => import("npm:@supabase/server@1.8.1");

export type {
  OAuthClientInformationMixed,
  OAuthClientProvider,
  OAuthTokens,
} from "npm:@modelcontextprotocol/client@2.4.0";
export type { Arbitrary } from "npm:fast-check@4.10.2";
export type { Event as PageEvent, HTMLElement as PageElement, Window } from "npm:happy-dom@21.0.4";
export type { Browser, Page } from "../scripts/deps.ts";
export { loadSupabaseJs, type RealtimeChannel, type SupabaseClient } from "../scripts/deps.ts";

/** The Model Context Protocol's conformance suite, a program that Deno runs. */
export const CONFORMANCE_SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";

/** Third-party MCP servers, and the bridge that serves stdio servers over HTTP. */
export const FOREIGN_SERVERS = {
  context7: "npm:@upstash/context7-mcp@4.1.1",
  everything: "npm:@modelcontextprotocol/server-everything@2026.8.31",
  filesystem: "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
  memory: "npm:@modelcontextprotocol/server-memory@2026.8.31",
  mcpProxy: "npm:mcp-proxy@6.7.19",
  notion: "npm:@notionhq/notion-mcp-server@2.5.2",
  playwright: "npm:@playwright/mcp@0.0.83",
  sequentialThinking: "npm:@modelcontextprotocol/server-sequential-thinking@2026.8.31",
  supergateway: "npm:supergateway@4.0.0",
} as const;

/** Third-party MCP clients that are programs. */
export const FOREIGN_CLIENTS = {
  inspector: "npm:@modelcontextprotocol/inspector@2.12.0",
  mcporter: "npm:mcporter@0.12.3",
} as const;

/** The AI SDK, whose transport and stream the chats speak. */
export const loadAiSdk = () => import("npm:ai@7.0.173");
export type {
  ChatTransport,
  UIDataTypes,
  UIMessage,
  UIMessageChunk,
  UIMessagePart,
  UITools,
} from "npm:ai@7.0.173";

export const loadAiSdkVue = () => import("npm:@ai-sdk/vue@4.0.142");

/** AG-UI's own client, and the schemas of its events. */
export const loadAgUi = async () => ({
  ...await import("npm:@ag-ui/client@1.0.0"),
  ...await import("npm:@ag-ui/core@1.0.0/schemas"),
});
export type {
  AgentCapabilities,
  BaseEvent,
  ContentPart,
  Message as AgUiMessage,
  RunAgentInput,
} from "npm:@ag-ui/core@1.0.0";

export const loadAiSdkMcp = () => import("npm:@ai-sdk/mcp@2.0.99");
export const loadMcpSdkV1 = async () => ({
  ...await import("npm:@modelcontextprotocol/sdk@1.32.2/client/index.js"),
  ...await import("npm:@modelcontextprotocol/sdk@1.32.2/client/streamableHttp.js"),
});

/** Folders of third-party packages that contain skills. */
export async function resolvePackagesWithSkills(): Promise<readonly string[]> {
  await import("npm:dotenv@17.4.2");
  return [
    import.meta.resolve("npm:dotenv@17.4.2"),
    import.meta.resolve("npm:@supabase/server@1.8.1"),
  ]
    .map((entry) => fileURLToPath(new URL("skills", entry.replace(/(\/\d[^/]*\/).*$/, "$1"))));
}

/** The official schemas of component registries. */
export const loadRegistrySchemas = () => import("npm:@shadcn/registry@0.2.1/schema");
/** The frameworks that the client has hooks for, and a DOM for their pages. */
export const loadReact = async () => ({
  ...await import("react"),
  ...await import("react-dom/client"),
});
export const loadVue = () => import("vue");
/** Compiles the components of Vue. */
export const loadVueCompiler = () => import("npm:@vue/compiler-sfc@3.5.45");
export const loadHappyDom = () => import("npm:happy-dom@21.0.4");

/** The source of axe, which finds WCAG violations in a page. */
export async function loadAxeSource(): Promise<string> {
  const { default: axe } = await import("npm:axe-core@4.14.1");
  return axe.source;
}

/**
 * The official forms of the files by which registries and editors find this project. Each schema
 * states the rules of its source, read on the given date, and refuses fields that it does not name.
 */
import { z } from "../../shared/vendor/zod.js";

/** Semantic version without a range. */
const version = z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
const pluginName = z.string().max(64).regex(/^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/);
const author = z.strictObject({ name: z.string().min(1), email: z.email().optional() });
const metadata = {
  name: pluginName,
  version,
  description: z.string(),
  author,
  homepage: z.url().optional(),
  repository: z.url(),
  license: z.string(),
  keywords: z.array(z.string()),
};

const variable = z.strictObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
});

/**
 * `server.json` of the MCP registry, version 2025-12-11: static.modelcontextprotocol.io/schemas,
 * and docs/reference/server-json of modelcontextprotocol/registry; read on 2026-11-27.
 */
export const registryServer = z.strictObject({
  $schema: z.literal(
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  ),
  name: z.string().min(3).max(200).regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version: version.max(255),
  repository: z.strictObject({ url: z.url(), source: z.string() }),
  remotes: z.array(z.strictObject({
    type: z.enum(["streamable-http", "sse"]),
    url: z.string().regex(/^(https?:\/\/[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$/),
    variables: z.record(z.string(), variable),
  })).min(1),
});

/**
 * `plugin.json` of Agent Plugins 1.0.0, §5: agent-plugins.org; read on 2026-11-27.
 */
export const agentPlugin = z.strictObject({
  $schema: z.literal("https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"),
  ...metadata,
});

/** A loopback address, or HTTPS; without placeholders, which clients must not expand. */
const fixedAddress = z.url().regex(/^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])[^$#@]+$/);

/** `mcp.json` of Agent Plugins 1.0.0, §7.2, with remote servers only; read on 2026-11-27. */
export const agentPluginServers = z.strictObject({
  $schema: z.literal("https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"),
  mcpServers: z.record(
    z.string(),
    z.strictObject({ type: z.enum(["streamable-http", "sse"]), url: fixedAddress }),
  ),
});

const httpServer = z.strictObject({
  type: z.literal("http"),
  url: z.string().min(1),
  headers: z.record(z.string(), z.string()),
});

/**
 * `.claude-plugin/plugin.json` of Claude Code 2.1: code.claude.com/docs, plugin manifest reference;
 * `claude plugin validate` of version 2.1.332 accepted the file. Read on 2026-11-27.
 */
export const claudePlugin = z.strictObject({
  ...metadata,
  userConfig: z.record(
    z.string().regex(/^[A-Za-z_]\w*$/),
    z.strictObject({
      type: z.enum(["string", "number", "boolean", "directory", "file"]),
      title: z.string(),
      description: z.string(),
      default: z.string().optional(),
      required: z.boolean().optional(),
      sensitive: z.boolean().optional(),
    }),
  ),
  mcpServers: z.record(z.string(), httpServer),
});

/**
 * `.cursor-plugin/plugin.json`: schemas/plugin.schema.json of cursor/plugins; read on 2026-11-27.
 */
export const cursorPlugin = z.strictObject({
  ...metadata,
  displayName: z.string(),
  skills: z.string(),
  mcpServers: z.record(z.string(), httpServer),
});

/**
 * `marketplace.json`, with the fields that both Claude Code and Cursor know: `plugin marketplace` of
 * the former, schemas/marketplace.schema.json of cursor/plugins; read on 2026-11-27.
 */
export const marketplace = z.strictObject({
  name: pluginName,
  owner: author,
  metadata: z.strictObject({ description: z.string() }),
  plugins: z.array(
    z.strictObject({
      name: pluginName,
      source: z.string().startsWith("./"),
      description: z.string(),
    }),
  ).min(1),
});

/**
 * `samples.json` of `supabase bootstrap`: supabase-community/supabase-samples at 20d8309; read on
 * 2026-11-27. The address is that of a folder at a branch.
 */
export const bootstrapSamples = z.strictObject({
  samples: z.array(
    z.strictObject({
      name: z.string().min(1),
      description: z.string().min(1),
      url: z.string().regex(/^https:\/\/github\.com\/[\w-]+\/[\w.-]+\/tree\/[\w/-]+$/),
      start: z.string().min(1),
    }),
  ).min(1),
});

/** Front matter of `SKILL.md`: agentskills.io/specification; read on 2026-11-27. */
export const agentSkill = z.strictObject({
  name: z.string().max(64).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  description: z.string().min(1).max(1024),
  license: z.string().optional(),
  compatibility: z.string().max(500).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

/**
 * The edge functions whose names a project may have itself. There the installation gives them
 * other names, and replaces this module.
 */
export const FUNCTION_NAMES = {
  mcp: "mcp",
  execute: "mcp-execute",
  feedback: "mcp-feedback",
  oauth: "mcp-oauth",
  quothSync: "quoth-sync",
} as const;

/**
 * What `deno task test` runs, by what it shows: the tests of each module, and of the whole platform
 * the demo and a file or two for each wing and endpoint. They need nothing but the clone, and take
 * less than two minutes on two idle cores.
 */
export const ESSENTIAL_FILES: Readonly<Record<string, readonly string[]>> = {
  "each module": ["client", "lab", "scripts", "shared", "stack", "tests/docs"],
  "the demo and the client": ["tests/e2e/demo_test.ts"],
  "the embedded stack": ["tests/stack/stack_test.ts"],

  "app": ["tests/e2e/functions_http_test.ts"],
  "servers": [
    "tests/gateway/mcp/catalog_server_test.ts",
    "tests/servers/supabase/generate_sql_test.ts",
  ],
  "engine": [
    "tests/engine/worker/faults_test.ts",
    "tests/engine/worker/run_to_end_test.ts",
    "tests/tolerance/files/front_matter_test.ts",
  ],
  "gateway": [
    "tests/gateway/tools/internal_server_test.ts",
    "tests/tolerance/mcp/call_results_test.ts",
    "tests/tolerance/mcp/sample_test.ts",
  ],
  "models": ["tests/models", "tests/tolerance/models", "tests/tolerance/pages"],
  "platform": ["tests/security/channels_test.ts"],

  "mcp": ["tests/gateway/mcp/swarm_server_test.ts"],
  "mcp-execute": ["tests/gateway/mcp/execute_endpoint_test.ts"],
  "mcp-feedback": ["tests/gateway/mcp/feedback_test.ts"],
  "mcp-oauth": ["tests/gateway/mcp/oauth_test.ts"],
  "quoth-sync": ["tests/servers/quoth/sync_endpoint_test.ts"],
  "supaswarm-chat": ["tests/e2e/chat_endpoint_test.ts"],
  "supaswarm-create-task": ["tests/e2e/functions_http_test.ts"],
  "supaswarm-export": ["tests/gateway/mcp/feedback_test.ts"],
  "supaswarm-webhooks": ["tests/e2e/schedule_and_webhook_test.ts"],
  "supaswarm-worker": ["tests/e2e/functions_http_test.ts"],
};

/** Files and folders, each once or more. */
export const ESSENTIAL_TESTS: readonly string[] = Object.values(ESSENTIAL_FILES).flat();

/**
 * Every stable error code of the product with the HTTP status it answers with.
 *
 * SQL raises the same codes as `detail` (`raise sqlstate 'PT' || status`); a test
 * holds SQL and this list to each other. `retryable` says whether trying the same
 * thing again, later and unchanged, can succeed.
 */
export const ERROR_CODES = {
  // Requests
  BODY_INVALID: { status: 400, retryable: false },
  QUERY_INVALID: { status: 400, retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false },
  UNAUTHORIZED: { status: 401, retryable: false },
  PROJECT_KEYS_UNSUPPORTED: { status: 401, retryable: false },
  FORBIDDEN: { status: 403, retryable: false },
  AGENT_NOT_ALLOWED: { status: 403, retryable: false },
  INTERNAL: { status: 500, retryable: true },
  CONFIG_INVALID: { status: 500, retryable: false },
  DATABASE_UNAVAILABLE: { status: 503, retryable: true },
  DATABASE_REFUSED: { status: 409, retryable: false },

  // Agents and tasks
  AGENT_NOT_FOUND: { status: 404, retryable: false },
  AGENT_INACTIVE: { status: 409, retryable: false },
  AGENT_HANDOFF_FORBIDDEN: { status: 403, retryable: false },
  TASK_NOT_FOUND: { status: 404, retryable: false },
  TASK_NOT_MASTER: { status: 409, retryable: false },
  TASK_NOT_RETRYABLE: { status: 409, retryable: false },
  FORK_POINT_INVALID: { status: 422, retryable: false },
  DEAD_LETTER_NOT_FOUND: { status: 404, retryable: false },
  TASK_INPUT_INVALID: { status: 400, retryable: false },
  TASK_BUDGET_INVALID: { status: 400, retryable: false },
  TASK_PRIORITY_INVALID: { status: 400, retryable: false },
  TASK_RUN_AFTER_INVALID: { status: 400, retryable: false },
  TASK_DELIVERIES_EXCEEDED: { status: 500, retryable: false },
  LEASE_LOST: { status: 409, retryable: false },
  TASK_CANCELLED: { status: 409, retryable: false },
  STEP_CONFLICT: { status: 409, retryable: false },

  // Caps, budgets and quotas
  QUOTA_EXCEEDED: { status: 429, retryable: true },
  DEPTH_EXCEEDED: { status: 422, retryable: false },
  CHILDREN_EXCEEDED: { status: 422, retryable: false },
  STEPS_EXCEEDED: { status: 422, retryable: false },
  TASKS_EXCEEDED: { status: 422, retryable: false },
  BUDGET_EXCEEDED: { status: 422, retryable: false },
  PRICE_UNKNOWN: { status: 422, retryable: false },
  OUTPUT_TOO_LARGE: { status: 422, retryable: false },
  OUTPUT_SCHEMA_INVALID: { status: 422, retryable: false },
  OUTPUT_SCHEMA_MISMATCH: { status: 422, retryable: false },

  // Reviews
  REVIEW_NOT_FOUND: { status: 404, retryable: false },
  REVIEW_ALREADY_ANSWERED: { status: 409, retryable: false },
  REVIEW_ANSWER_INVALID: { status: 400, retryable: false },

  // Secrets
  SECRET_NOT_FOUND: { status: 422, retryable: false },
  SECRET_INVALID: { status: 400, retryable: false },
  PROVIDER_NOT_FOUND: { status: 404, retryable: false },
  MODEL_POLICY_DENIED: { status: 403, retryable: false },

  // Models
  MODEL_KEY_MISSING: { status: 422, retryable: false },
  MODEL_AUTH_FAILED: { status: 422, retryable: false },
  MODEL_REQUEST_INVALID: { status: 422, retryable: false },
  MODEL_RATE_LIMITED: { status: 429, retryable: true },
  MODEL_UNAVAILABLE: { status: 502, retryable: true },
  MODEL_TIMEOUT: { status: 504, retryable: true },
  MODEL_CALL_UNFINISHED: { status: 504, retryable: false },
  MODEL_OUTPUT_INVALID: { status: 502, retryable: true },
  MODEL_REFUSED: { status: 422, retryable: false },

  // Tools
  TOOL_NOT_FOUND: { status: 404, retryable: false },
  SENDING_NOT_APPROVED: { status: 403, retryable: false },
  TOOL_FORBIDDEN: { status: 403, retryable: false },
  INSUFFICIENT_SCOPE: { status: 403, retryable: false },
  TOOL_DEFINITION_CHANGED: { status: 409, retryable: false },
  RESOURCE_NOT_FOUND: { status: 404, retryable: false },
  TOOL_CONFIG_INVALID: { status: 422, retryable: false },
  TOOL_ASKS_MORE: { status: 422, retryable: false },
  TOOL_ARGUMENTS_INVALID: { status: 422, retryable: false },
  TOOL_RATE_LIMITED: { status: 429, retryable: true },
  TOOL_UNAVAILABLE: { status: 502, retryable: true },
  TOOL_AUTH_FAILED: { status: 502, retryable: false },
  AUTHORIZATION_REQUIRED: { status: 403, retryable: false },
  CREDENTIAL_REQUIRED: { status: 403, retryable: false },
  AUTHORIZATION_INVALID: { status: 400, retryable: false },
  AUTHORIZATION_REFUSED: { status: 422, retryable: false },
  OAUTH_UNAVAILABLE: { status: 422, retryable: false },
  TOOL_STATE_INVALID: { status: 422, retryable: false },
  TOOL_TIMEOUT: { status: 504, retryable: true },
  TOOL_FAILED: { status: 502, retryable: false },
  TOOL_OUTCOME_UNKNOWN: { status: 502, retryable: false },
  TOOL_CANCELLED: { status: 409, retryable: false },
  TOOL_ADDRESS_FORBIDDEN: { status: 422, retryable: false },
  EXCEEDED_RETRIES: { status: 422, retryable: false },
  CALLER_REQUIRED: { status: 422, retryable: false },
  FEEDBACK_TOKEN_NOT_FOUND: { status: 404, retryable: false },
  FEEDBACK_CLOSED: { status: 409, retryable: false },

  // SQL
  SQL_INVALID: { status: 422, retryable: false },
  SQL_FORBIDDEN: { status: 422, retryable: false },
  SQL_FAILED: { status: 422, retryable: false },
  SQL_ROW_LIMIT_EXCEEDED: { status: 422, retryable: false },
  CONFIRMATION_REQUIRED: { status: 422, retryable: false },
  CONFIRMATION_INVALID: { status: 422, retryable: false },
  APPROVAL_REQUIRED: { status: 422, retryable: false },
  CONFIRMATION_NOT_FOUND: { status: 404, retryable: false },

  // Documents
  PROJECT_NOT_FOUND: { status: 404, retryable: false },
  PROJECT_LANGUAGE_UNKNOWN: { status: 400, retryable: false },
  DOCUMENT_NOT_FOUND: { status: 404, retryable: false },
  DOCUMENT_INVALID: { status: 400, retryable: false },
  QUERY_EMBEDDING_INVALID: { status: 400, retryable: false },
  EMBEDDER_MISMATCH: { status: 409, retryable: false },
  SWITCH_INCOMPLETE: { status: 409, retryable: false },

  // Embedders
  EMBEDDER_NOT_FOUND: { status: 404, retryable: false },
  EMBEDDER_FIXED: { status: 409, retryable: false },
  EMBEDDER_KEY_MISSING: { status: 422, retryable: false },
  EMBEDDER_REFUSED: { status: 422, retryable: false },
  EMBEDDER_TEXT_REFUSED: { status: 422, retryable: false },
  EMBEDDER_RATE_LIMITED: { status: 429, retryable: true },
  EMBEDDER_QUOTA_EXHAUSTED: { status: 429, retryable: true },
  EMBEDDER_UNAVAILABLE: { status: 502, retryable: true },
  EMBEDDER_OUTPUT_INVALID: { status: 502, retryable: false },

  // Syncs of repositories
  GITHUB_RATE_LIMITED: { status: 429, retryable: true },
  GITHUB_UNAVAILABLE: { status: 502, retryable: true },
  GITHUB_AUTH_FAILED: { status: 422, retryable: false },
  GITHUB_NOT_FOUND: { status: 404, retryable: false },
  FILE_NOT_TEXT: { status: 422, retryable: false },
  FILE_TOO_LARGE: { status: 422, retryable: false },
  FILE_UNREADABLE: { status: 422, retryable: false },
  FILE_UNAVAILABLE: { status: 502, retryable: true },
  USER_NOT_FOUND: { status: 404, retryable: false },
  SYNC_DELIVERIES_EXCEEDED: { status: 500, retryable: false },

  // Skills and data
  SKILL_NOT_FOUND: { status: 404, retryable: false },
  SKILL_RESOURCE_NOT_FOUND: { status: 404, retryable: false },
  SKILL_INVALID: { status: 400, retryable: false },
  STORAGE_UNAVAILABLE: { status: 502, retryable: true },
} as const satisfies Record<string, { readonly status: number; readonly retryable: boolean }>;

/** A stable code; clients may branch on it. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** True when `value` is one of the product's stable codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(ERROR_CODES, value);
}

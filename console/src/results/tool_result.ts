import { RequestError } from "../project/request_error.ts";

/** A part of a tool's answer. */
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
}

/** The answer of a tool call, including a refusal by the gateway. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** How a call ended, for feedback and for the page. */
export interface ResultFacts {
  readonly executionId: string | null;
  readonly feedbackToken: string | null;
  readonly errorCode: string | null;
  readonly lastSql: string | null;
  readonly consecutiveFailures: number;
}

/** A refusal by the gateway as a result, so that it can be graded too. */
export function resultOfError(error: RequestError): ToolResult {
  const details = (error.details ?? {}) as Record<string, unknown>;
  const text = error.hint === null ? error.message : `${error.message}\n\n${error.hint}`;
  return {
    content: [{ type: "text", text }],
    isError: true,
    _meta: {
      ...details,
      error_code: error.code,
      ...(error.requestId === null ? {} : { request_id: error.requestId }),
    },
  };
}

export function factsOf({ _meta: meta = {} }: ToolResult): ResultFacts {
  const failures = meta.consecutive_failures;
  return {
    executionId: textOf(meta.execution_id),
    feedbackToken: textOf(meta.feedback_token),
    errorCode: textOf(meta.error_code),
    lastSql: textOf(meta.last_sql),
    consecutiveFailures: typeof failures === "number" ? failures : 0,
  };
}

/** The text of all blocks of a result. */
export function textIn({ content }: ToolResult): string {
  return content.flatMap(({ type, text }) => type === "text" && text ? [text] : []).join("\n\n");
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

import assert from "node:assert/strict";
import { fenceData } from "../../tool_contracts/fence_data.ts";
import { type FailedCall, hasExceededRetries, toolErrorMessage } from "./retry_message.ts";
import type { AgentTool } from "../../tool_contracts/agent_tool.ts";

const TOOL: AgentTool = {
  modelName: "zapier__search_contact",
  toolId: "id",
  server: "zapier",
  toolName: "search_contact",
  description: "Finds a contact",
  inputSchema: {
    type: "object",
    properties: {
      searchValue: { type: "string" },
      includeFields: { type: "array", items: { type: "string" } },
    },
    required: ["searchValue"],
    additionalProperties: false,
  },
  isReadOnly: true,
  isIdempotent: true,
  dataFlows: [],
  destination: null,
  knownGood: {
    parameters: { searchValue: "jo@example.com", includeFields: ["email"] },
    isShape: false,
    successCount: 5,
  },
};

const CALL: FailedCall = {
  tool: TOOL,
  arguments: { instructions: "find john@example.com" },
  error: "Invalid arguments. Use 'searchValue' parameter, NOT 'instructions'.",
  errorCode: "TOOL_ARGUMENTS_INVALID",
  attempt: 1,
  request: "Find contact information for john@example.com",
};

Deno.test("toolErrorMessage() for a wrong argument is the complete retry message", () => {
  assert.equal(
    toolErrorMessage(CALL),
    `🔄 MCP TOOL RETRY - Attempt 1/3

The tool "zapier__search_contact" returned an interactive error message:

ERROR MESSAGE:
<untrusted_data source="zapier/search_contact">
Invalid arguments. Use 'searchValue' parameter, NOT 'instructions'.
</untrusted_data>

💡 SUGGESTED FIX:
$.searchValue: it is required but missing
$.instructions: the argument 'instructions' does not exist

🔍 INFERRED FROM THE REQUEST: "searchValue" is probably "john@example.com"

✅ PREVIOUSLY SUCCESSFUL PARAMETERS (5 successful executions):
<untrusted_data source="arguments of an earlier call">
{
  "searchValue": "jo@example.com",
  "includeFields": [
    "email"
  ]
}
</untrusted_data>

These parameters have worked before. Use them as a reference for the correct format and structure.

📝 USER'S ORIGINAL REQUEST: "Find contact information for john@example.com"

📋 MCP PROTOCOL INSTRUCTIONS:
1. READ the error message carefully - it tells you EXACTLY what's needed
2. Generate a BRAND NEW tool call with ONLY the correct parameters
3. **DO NOT include parameters mentioned as wrong in the error**
4. **ONLY use the parameter names specified in the error message**`,
  );
});

Deno.test("toolErrorMessage() answers a tool's own error with the arguments that it names", () => {
  const { knownGood: _, ...tool } = TOOL;
  const message = toolErrorMessage({
    ...CALL,
    tool,
    arguments: { searchValue: "x" },
    error: "Nothing found; set includeFields",
    errorCode: undefined,
    attempt: 2,
  });

  assert.match(message, /Attempt 2\/3/);
  assert.match(message, /SUGGESTED FIX:\nGive 'includeFields'\./);
  assert.doesNotMatch(message, /INFERRED|PREVIOUSLY/);
});

Deno.test("toolErrorMessage() suggests no argument for a word of the fence", () => {
  const { knownGood: _, ...tool } = TOOL;
  const properties = { source: { type: "string" }, zapier: { type: "string" } };
  const message = toolErrorMessage({
    ...CALL,
    tool: { ...tool, inputSchema: { type: "object", properties } },
    arguments: {},
    error: "Nothing found",
    errorCode: undefined,
  });

  assert.match(message, /Nothing found/);
  assert.doesNotMatch(message, /SUGGESTED FIX/);
});

Deno.test("toolErrorMessage() gives up after the third consecutive failure", () => {
  const third = { ...CALL, attempt: 3 };

  assert.ok(hasExceededRetries(third));
  assert.match(toolErrorMessage(third), /^EXCEEDED_RETRIES: .* 3 times in a row/);
  assert.match(toolErrorMessage(third), /request_human_review/);
});

Deno.test("toolErrorMessage() keeps transport and credential errors unchanged, twice", () => {
  for (const errorCode of ["TOOL_UNAVAILABLE", "TOOL_TIMEOUT", "TOOL_AUTH_FAILED"] as const) {
    const call = { ...CALL, errorCode, error: "No connection", attempt: 2 };

    assert.equal(toolErrorMessage(call), fenceData("No connection", "zapier/search_contact"));
    assert.match(toolErrorMessage({ ...call, attempt: 3 }), /^EXCEEDED_RETRIES: /);
  }
});

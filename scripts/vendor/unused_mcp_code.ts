import { withoutMembers } from "./remove_code.ts";
import type { Patch } from "./vendored_modules.ts";

const CLIENT = "client/dist/public-CvV4ZHkX.mjs";

/**
 * The client only calls and lists tools, passes other requests on as they are, and gets its tokens
 * from the project instead of an OAuth provider. The server registers only tools.
 */
export const UNUSED_MCP_CODE: readonly Patch[] = [
  ...withoutMembers(CLIENT, [
    ...["complete", "getPrompt", "listPrompts", "listResourceTemplates", "listResources"],
    ...["readResource", "setLoggingLevel", "subscribeResource", "unsubscribeResource"],
  ]),
  {
    file: CLIENT,
    from: /^async function authInternal\([^]*?^\}\n/gm,
    to: 'async function authInternal() { throw new Error("The MCP client has no provider"); }\n',
  },
  ...withoutMembers("server/dist/mcp-oHn3ureC.mjs", [
    ...["registerPrompt", "registerResource", "_createRegisteredPrompt"],
    ...["_createRegisteredResource", "_createRegisteredResourceTemplate"],
  ]),
];

/** Codes of JSON-RPC errors, with the meaning that MCP gives them. */
export const RPC_CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  /** Also for an unknown tool. */
  invalidParams: -32602,
  internalError: -32603,
  /** The first of the codes that servers define themselves. */
  serverError: -32000,
  /** The SDK's servers use it for a session that they do not know. */
  sessionNotFound: -32001,
  /** As reported by servers of the earlier protocol. */
  resourceNotFound: -32002,
  /** The client lacks a capability that the server requires. */
  capabilityMissing: -32021,
  unsupportedVersion: -32022,
} as const;

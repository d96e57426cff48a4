import { createHash, randomBytes } from "node:crypto";
import { canonicalJson } from "../../canonical_json.ts";
import type { AdmittedCall } from "./judged_call.ts";

/** The hashes that bind a token to its statement, as hexadecimal digits. */
export interface StatementHashes {
  readonly tree_hash: string;
  readonly params_hash: string;
}

/** The hashes of a statement's canonical tree and of its parameters. */
export function statementHashes({ statement, request }: AdmittedCall): StatementHashes {
  return {
    tree_hash: hashOf(statement.canonicalTree),
    params_hash: hashOf(canonicalJson([...request.params])),
  };
}

/** A random token of 256 bits. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/** SHA-256 as hexadecimal digits. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

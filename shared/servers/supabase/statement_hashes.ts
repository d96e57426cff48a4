import { canonicalJson } from "../../platform/values/canonical_json.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";
import type { AdmittedStatement } from "./judged_call.ts";
import type { ConfirmedWrite, WriteHashes } from "./sql_confirmation.ts";

/** The hashes of a statement's canonical tree and of its parameters. */
export function statementHashes({ statement, request }: AdmittedStatement): WriteHashes {
  return {
    tree_hash: sha256Hex(statement.canonicalTree),
    params_hash: sha256Hex(canonicalJson([...request.params])),
  };
}

/** A statement that the caller confirmed with this token. */
export function confirmedStatement(call: AdmittedStatement, token: string): ConfirmedWrite {
  const { context } = call;
  return { context, token, hashes: statementHashes(call), key: context.idempotencyKey };
}

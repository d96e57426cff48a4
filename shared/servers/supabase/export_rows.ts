import type { TransactionSql } from "../../vendor/postgres.js";
import { byteLength } from "../../platform/values/byte_length.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { MEDIA_TYPES, RowsEncoder } from "../sql/results/rows_encoder.ts";
import { createArtifactStorage } from "../../engine/worker/artifact_storage.ts";
import { fetchBatches } from "./fetch_batches.ts";
import { runGuarded } from "./guarded_transaction.ts";
import { type AdmittedStatement, tablesOf } from "./judged_call.ts";
import { sha256Hex } from "../../platform/values/sha256_hex.ts";
import { statementHashes } from "./statement_hashes.ts";
import type { StatementAnswer, StatementRequest } from "./statement_request.ts";
import { toJson } from "./to_json.ts";

type Format = NonNullable<StatementRequest["export"]>;

/** The bucket of users' own files; each user's folder is named after the user id. */
const BUCKET = "supaswarm-data";
const URL_SECONDS = 3_600;

interface EncodedRows {
  readonly text: string;
  readonly rowCount: number;
  readonly isTruncated: boolean;
}

/**
 * Refuses to export a statement that returns no rows. @throws SwarmError `TOOL_ARGUMENTS_INVALID`
 */
export function assertExportable({ request, statement, statementClass }: AdmittedStatement): void {
  if (request.export === null) return;
  if (statementClass === "read" && statement.kind === "SelectStmt") return;
  throw new SwarmError(
    "TOOL_ARGUMENTS_INVALID",
    `Cannot export the rows of the statement: it is a ${statementClass} (${statement.kind})`,
    { hint: "Export a SELECT, VALUES or TABLE; leave export out for anything else." },
  );
}

/**
 * Stores the rows of a read in the caller's own folder, with the same checks as any read. The rows
 * are fetched through a cursor, and the file is stored after the last row, so a failed read leaves
 * no file.
 *
 * @throws SwarmError `QUOTA_EXCEEDED`, `STORAGE_UNAVAILABLE`; errors of the database.
 */
export async function exportRows(
  call: AdmittedStatement,
  format: Format,
): Promise<StatementAnswer> {
  const { context, statement } = call;
  const { text, rowCount, isTruncated } = await runGuarded(
    call,
    true,
    (sql) => encodeRows(call, sql, format),
  );
  const sizeBytes = byteLength(text);
  await context.sql`
    select private.assert_may_keep_file(${context.caller.userId}::uuid, ${sizeBytes}::bigint)`;
  return {
    statement_class: "read",
    dry_run: false,
    tables: tablesOf(statement),
    row_count: rowCount,
    is_truncated: isTruncated,
    file: await storeFile(call, format, text, sizeBytes),
    ...(isTruncated ? { warnings: ["There are more rows than the file may hold."] } : {}),
  };
}

async function encodeRows(
  call: AdmittedStatement,
  sql: TransactionSql,
  format: Format,
): Promise<EncodedRows> {
  const { request, settings } = call;
  const { max_export_rows: maxRows, max_export_bytes: maxBytes } = settings;
  const endsAtMs = performance.now() + Math.min(request.timeout, settings.statement_timeout_ms);
  let encoder = new RowsEncoder(format, [], maxBytes);
  for await (const batch of fetchBatches(call, sql, maxRows + 1)) {
    if (performance.now() > endsAtMs) throw tookTooLong(encoder.rowCount);
    const { columns } = batch;
    if (encoder.rowCount === 0) {
      encoder = new RowsEncoder(format, columns.map(({ name }) => name), maxBytes);
    }
    for (const row of batch) {
      const values = row.map((value, index) => toJson(value, columns[index]?.type ?? 0));
      if (encoder.rowCount === maxRows || !encoder.add(values)) return ended(encoder, true);
    }
  }
  return ended(encoder, false);
}

function ended(encoder: RowsEncoder, isTruncated: boolean): EncodedRows {
  return { text: encoder.text(), rowCount: encoder.rowCount, isTruncated };
}

/**
 * The path depends on the call's key, so a repeated delivery overwrites the file instead of adding
 * one.
 */
async function storeFile(
  call: AdmittedStatement,
  format: Format,
  text: string,
  sizeBytes: number,
): Promise<NonNullable<StatementAnswer["file"]>> {
  const { context } = call;
  const storage = createArtifactStorage({
    url: context.supabaseUrl,
    secretKey: context.secretKey,
    bucket: BUCKET,
  });
  const { tree_hash, params_hash } = statementHashes(call);
  const name = sha256Hex([context.idempotencyKey, tree_hash, params_hash].join(" ")).slice(0, 32);
  const path = `${context.caller.userId}/exports/${name}.${format}`;
  try {
    context.signal.throwIfAborted();
    await storage.put({ path, body: text, contentType: MEDIA_TYPES[format] });
    const url = context.publicUrl + await storage.link(path, URL_SECONDS);
    // Everyone who has the link can read the file.
    context.keepFromLedger(url);
    return {
      bucket: BUCKET,
      path,
      format,
      size_bytes: sizeBytes,
      url,
      url_expires_at: new Date(Date.now() + URL_SECONDS * 1_000).toISOString(),
    };
  } catch (error) {
    await storage.remove(path).catch(() => {
      // Storage did not respond, so most likely there is no file.
    });
    throw error;
  }
}

function tookTooLong(rowCount: number): SwarmError {
  return new SwarmError(
    "TOOL_TIMEOUT",
    `Cannot export the rows: ${rowCount} of them came within the statement's timeout`,
    { hint: "Nothing was stored. Select fewer rows, or allow more time with timeout." },
  );
}

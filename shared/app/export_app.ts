import { z } from "../vendor/zod.js";
import type { Config } from "../platform/config/env.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";
import { definedOnly } from "../platform/values/defined_only.ts";
import { createExportStore, type DaysWanted } from "../gateway/feedback/export_store.ts";
import { type ExportPorts, runExport, type WrittenFile } from "../gateway/feedback/run_export.ts";
import { createHttpHandler } from "../platform/http/http_handler.ts";
import { parseBody } from "../platform/http/parse_body.ts";
import { FORM_LIMITS } from "../platform/json/json_limits.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createArtifactStorage } from "../engine/worker/artifact_storage.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { createSqlTaskStore } from "../engine/worker/sql_task_store.ts";
import { createReleaseCheck } from "./release_check.ts";
import { openIsolatePool } from "../platform/isolate/isolate_pool.ts";
import { createRequestGate } from "../platform/isolate/request_gate.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";
import type { App } from "./app.ts";
import { createWakeGuard } from "./wake_guard.ts";
import { serviceKeyOf } from "./service_key.ts";

const BUCKET = "supaswarm-exports";

const exportRequest = z.strictObject({
  /** Writes the files again, starting with this day. */
  from: z.iso.date().optional(),
});

/**
 * Composes `supaswarm-export`. The database's wake-up gets 202 immediately and starts the due
 * export; the holder of a secret key waits for the files, including today's.
 */
export function createExportApp(config: Config, log: Logger): App {
  const sql = openIsolatePool(config.databaseUrl, "supaswarm-export");
  const ready = createReleaseCheck(sql, log);
  const gate = createRequestGate(config.cpu);
  const storage = createArtifactStorage({
    url: config.apiKeys.url,
    secretKey: serviceKeyOf(config.apiKeys.secretKeys),
    bucket: BUCKET,
  });
  const ports: ExportPorts = {
    store: createExportStore(sql),
    writeFile: ({ path, text }) =>
      storage.put({ path, body: text, contentType: "text/csv; charset=utf-8" }),
  };
  const { leaseSeconds } = config.worker;
  const guard = createWakeGuard(
    config.apiKeys,
    createSqlTaskStore(sql, { leaseSeconds, clock: isolateClock }),
  );
  let due: Promise<void> | null = null;

  const fetch = createHttpHandler({ methods: ["POST"], log, gate, ready }, async (request) => {
    if (await guard(request) === "database") {
      due ??= exportDue().finally(() => due = null);
      runInBackground(due);
      return Response.json({}, { status: 202 });
    }
    const { from } = await parseBody(request, exportRequest, FORM_LIMITS);
    const files = await write({ withToday: true, ...definedOnly({ from }) });
    return Response.json({
      bucket: BUCKET,
      files: files.map(({ path, rowCount }) => ({ path, row_count: rowCount })),
    });
  });
  return { fetch, close: () => sql.end({ timeout: 1 }) };

  async function write(wanted: DaysWanted): Promise<readonly WrittenFile[]> {
    return await runExport(await ports.store.listDays(wanted), ports);
  }

  /** Failed exports stay due, and the next wake-up retries them. */
  async function exportDue(): Promise<void> {
    try {
      const files = await write({});
      log("info", "export.written", { files: files.length });
    } catch (error) {
      const { code, message } = toSwarmError(error, "export");
      log("error", "export.failed", { code, message });
    }
  }
}

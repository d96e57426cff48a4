import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { Logger, StackDatabase } from "../database/database_port.ts";
import type { Ticker } from "./cron.ts";
import { type HttpAnswer, type HttpRequest, sendRequest } from "./net_request.ts";

/** The extension's trigger on `net.http_request_queue` notifies this channel. */
const CHANNEL = "supaswarm_net";
/** pg_net's default `pg_net.batch_size`: the maximum number of concurrent requests. */
const BATCH_SIZE = 200;
/** Finds requests whose notification was lost. */
export const POLL_MS = 2_000;
/** Responses expire with pg_net's default `pg_net.ttl`, within a minute. */
const CLEAN_MS = 60_000;
const MAX_CONNECTIONS = 4;
const END_LIMIT_SECONDS = 2;
const UNDEFINED_TABLE = "42P01";

/**
 * Sends the requests of the stack's `pg_net` extension. Takes requests from
 * `net.http_request_queue` as soon as they are committed, sends up to 200 at once, and keeps the
 * responses in `net._http_response` for six hours. Sends a request at most once, because it deletes
 * the row before it sends. Does nothing where the extension is not installed or is the real pg_net.
 */
export async function startNet(database: StackDatabase, log: Logger): Promise<Ticker> {
  const sql = createSql(database.adminUrl, {
    maxConnections: MAX_CONNECTIONS,
    applicationName: "net",
  });
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let isDraining = false;
  let isWoken = false;

  const drain = async () => {
    isWoken = true;
    if (isDraining) return;
    isDraining = true;
    try {
      while (isWoken && !stopping.signal.aborted && inFlight.size < BATCH_SIZE) {
        isWoken = false;
        const requests = await takeRequests(sql, BATCH_SIZE - inFlight.size);
        for (const request of requests) track(answer(request));
        isWoken ||= requests.length > 0;
      }
    } catch (error) {
      if (!isMissingTable(error)) log("debug", "net.drain_failed", { reason: String(error) });
    } finally {
      isDraining = false;
    }
  };
  const answer = async (request: HttpRequest) => {
    const result = await sendRequest(request, stopping.signal);
    if (stopping.signal.aborted) return;
    await storeAnswer(sql, request.id, result).catch((error) =>
      log("warn", "net.answer_lost", { request_id: request.id, reason: String(error) })
    );
  };
  const track = (work: Promise<void>) => {
    const tracked = work.finally(() => {
      inFlight.delete(tracked);
      // The drain had stopped at a full batch.
      if (inFlight.size === BATCH_SIZE - 1) drain();
    });
    inFlight.add(tracked);
  };

  const unsubscribe = await database.onNotification(CHANNEL, drain);
  const unsubscribeRestart = database.onRestart(drain);
  const poll = setInterval(drain, POLL_MS);
  const clean = setInterval(() => removeExpired(sql).catch(() => {}), CLEAN_MS);
  drain();
  return {
    stop: async () => {
      clearInterval(poll);
      clearInterval(clean);
      unsubscribe();
      unsubscribeRestart();
      stopping.abort();
      await sql.end({ timeout: END_LIMIT_SECONDS });
    },
  };
}

async function takeRequests(sql: Sql, limit: number): Promise<HttpRequest[]> {
  return await sql<HttpRequest[]>`
    delete from net.http_request_queue
    where id in (
      select id from net.http_request_queue order by id limit ${limit} for update skip locked
    )
      and to_regprocedure('net._wake_executor()') is not null
    returning id, method::text as method, url, headers, timeout_milliseconds as "timeoutMs",
      convert_from(body, 'UTF8') as body
  `;
}

async function storeAnswer(sql: Sql, id: string, answer: HttpAnswer): Promise<void> {
  await sql`
    insert into net._http_response
      (id, status_code, content_type, headers, content, timed_out, error_msg)
    values (${id}, ${answer.statusCode}, ${answer.contentType}, ${sql.json(answer.headers)},
      ${answer.content}, ${answer.isTimedOut}, ${answer.errorMessage})
  `;
}

async function removeExpired(sql: Sql): Promise<void> {
  await sql`delete from net._http_response where created < now() - interval '6 hours'`;
}

function isMissingTable(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNDEFINED_TABLE;
}

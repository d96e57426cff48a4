import assert from "node:assert/strict";
import type { SerialQueue } from "../../../platform/values/serial_queue.ts";
import type { RegisteredServer } from "../../tool_contracts/tool_records.ts";
import type { ToolServerPorts } from "../kinds/open_tool_server.ts";
import { renewInTime } from "./renew_in_time.ts";

function server(listedAt: string | null): RegisteredServer {
  return {
    tool: { id: "tool", slug: "shop" },
    connection: { id: "connection" },
    tools_listed_at: listedAt,
  } as unknown as RegisteredServer;
}

Deno.test("a first list is awaited until its turn, and a known one only in time", async () => {
  const turn = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<never>();
  const renewals: Promise<unknown>[] = [];
  const listings: SerialQueue = async (work) => {
    await turn.promise;
    void work().catch(() => {});
    return await answered.promise;
  };
  const done = () => Promise.resolve();
  const ports = {
    store: { beginListing: () => Promise.resolve(true), continueListing: done, failListing: done },
    listings,
    keepAlive: (work: Promise<unknown>) => void renewals.push(work),
    log: () => {},
  } as unknown as ToolServerPorts;
  const { signal } = new AbortController();
  const renew = (listedAt: string | null) =>
    renewInTime(server(listedAt), null, ports, { waitMs: 1, signal });
  let isFirstBusy = false;

  const first = renew(null).finally(() => isFirstBusy = true);
  assert.deepEqual(await renew("2026-01-01T00:00:00Z"), { kind: "busy" });
  assert.equal(isFirstBusy, false);
  turn.resolve();

  assert.deepEqual(await first, { kind: "busy" });
  answered.reject(new Error("The server has gone"));
  await Promise.all(renewals);
});

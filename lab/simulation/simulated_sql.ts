import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { crossPort } from "./cross_port.ts";
import { time } from "./virtual_globals.ts";
import type { DisturbedProcess, WorldPorts } from "./world_ports.ts";

/** How a statement can fail. */
const FAULTS = [
  "is refused",
  "loses its reply",
  "hangs and runs",
  "hangs and does not run",
  "runs after its caller has given up",
  "is the victim of a deadlock",
] as const;

/** A value that the driver sends as JSON. */
class Json {
  constructor(readonly value: unknown) {}
}

/**
 * The driver's tag for a process of the world: a statement and its reply travel separately, and both
 * can be lost.
 */
export function createSimulatedSql(process: DisturbedProcess, world: WorldPorts): Sql {
  const sql = (strings: TemplateStringsArray, ...values: unknown[]) => {
    const text = strings.reduce((whole, part, index) => `${whole}$${index}${part}`);
    return send(
      text,
      values.map((value) => value instanceof Json ? JSON.stringify(value.value) : value),
      process,
      world,
    );
  };
  return Object.assign(sql, { json: (value: unknown) => new Json(value) }) as unknown as Sql;
}

/** The first function of schema `private` that a statement calls from its tables or columns. */
function nameOf(text: string): string {
  const names = [...text.matchAll(/private\.(\w+)\(/g)].map(([, name]) => name ?? "");
  return names.find((name) => name !== "watched_seconds") ?? names[0] ?? "query";
}

function send(
  text: string,
  values: readonly unknown[],
  process: DisturbedProcess,
  world: WorldPorts,
): Promise<unknown[]> {
  const { scheduler, trace, disturbances } = world;
  const { dice } = process;
  const name = nameOf(text);
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
  const about = `${process.name} ${name}`;
  if (!crossPort(process, name, world)) return promise;
  const fault = disturbances.pick(dice, world.shares().database, about, FAULTS);
  // A frozen process sends nothing until it continues.
  const heldMs = Math.max(0, process.frozenUntilMs - time.ms);
  const sentMs = heldMs + dice.int(0, 4) + (dice.chance(0.05) ? dice.int(5, 3_000) : 0);
  const replyMs = dice.int(0, 4);
  const lateMs = dice.int(15_500, 70_000);
  const isCutOff = dice.chance(0.5);
  const fail = (code: string) => reject(Object.assign(new Error("connection lost"), { code }));
  const reply = (run: () => void) => scheduler.after(replyMs, process, run);
  const note = (outcome: string) =>
    trace?.add(process.name, `${name}(${values.join(", ")})${outcome}`);

  switch (fault) {
    case "is refused":
      note(" is refused");
      scheduler.after(sentMs, process, () => fail("08006"));
      return promise;
    case "is the victim of a deadlock":
      note(" is the victim of a deadlock");
      scheduler.after(sentMs, process, () => fail("40P01"));
      return promise;
    case "hangs and does not run":
      note(" hangs and does not run");
      return promise;
  }
  const runMs = sentMs + (fault === "runs after its caller has given up" ? lateMs : 0);
  // Once it is sent it no longer needs its process.
  scheduler.after(runMs, null, async () => {
    if (process.isDead && isCutOff) return;
    let rows: unknown[];
    try {
      rows = await world.transact(text, values, name);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      note(` raises ${message}`);
      if (!String(code).startsWith("PT")) {
        world.report("no call fails unexpectedly", `${name}: ${code} ${message}`);
      }
      if (fault === null) reply(() => reject(error));
      return;
    }
    // Polls are most of what happens, and say nothing.
    if (rows.length > 0 || fault !== null) {
      note(` → ${summary(rows)}${fault === null ? "" : `, but ${fault}`}`);
    }
    if (fault === "loses its reply") reply(() => fail("08006"));
    else if (fault === null) reply(() => resolve(rows));
  });
  return promise;
}

/** Short texts of the columns, without contexts of tasks. */
function summary(rows: readonly unknown[]): string {
  const texts = rows.map((row) =>
    Object.values(row as object).map(String).filter((text) =>
      text.length <= 40 && !text.startsWith("[object")
    )
      .join(" ")
  );
  return texts.length === 0 ? "nothing" : texts.join("; ");
}

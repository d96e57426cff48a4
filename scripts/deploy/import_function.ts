// Imports a function's entry like a new isolate, without serving it, and prints the time. Run it
// with the edge runtime's Deno: `import_function.ts <url of index.ts>`.

Object.defineProperty(Deno, "serve", { value: () => ({}) });

const cpuBeforeMs = readCpuMs();
const startedAt = performance.now();
await import(Deno.args[0] ?? "");
const wallMs = performance.now() - startedAt;
const cpuAfterMs = readCpuMs();
const measured = {
  wallMs,
  cpuMs: cpuBeforeMs === null || cpuAfterMs === null ? null : cpuAfterMs - cpuBeforeMs,
};
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(measured)));
Deno.exit(0);

/** Reads the CPU time of all threads of this process; null where they are not listed. */
function readCpuMs(): number | null {
  try {
    let nanoseconds = 0;
    for (const { name } of Deno.readDirSync("/proc/self/task")) {
      // The first of three numbers is the time spent on a processor.
      const schedstat = Deno.readTextFileSync(`/proc/self/task/${name}/schedstat`);
      nanoseconds += Number(schedstat.split(" ", 1)[0]);
    }
    return nanoseconds / 1e6;
  } catch {
    return null;
  }
}

// Imports a function's entry as a new isolate does, without serving it, and prints what that took.
// The edge runtime's Deno runs it: `import_function.ts <url of index.ts>`.

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

/** CPU time of all threads of this process; null where the operating system does not list them. */
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

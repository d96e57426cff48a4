import process from "node:process";

/** Seconds of CPU that this process has used: on a busy machine the clock says little. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

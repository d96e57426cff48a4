import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { runProgram, tryProgram } from "./run_program.ts";

/** Whether this machine installs packages with apt. */
export async function hasApt(): Promise<boolean> {
  try {
    return (await tryProgram(["apt-get", "--version"])).ok;
  } catch {
    return false;
  }
}

/** Returns the major version of Postgres in the distribution, for example 15. */
export async function distributionMajor(): Promise<number> {
  const depends = await runProgram(["apt-cache", "depends", "postgresql"]);
  const major = Number(depends.match(/postgresql-(\d+)/)?.[1]);
  if (Number.isInteger(major)) return major;
  throw new SwarmError(
    "CONFIG_INVALID",
    "Cannot find the PostgreSQL version of this distribution",
    {
      hint: "Run: apt-get update",
    },
  );
}

/** Whether apt can install the package. */
export async function isAvailable(name: string): Promise<boolean> {
  const { stdout } = await tryProgram(["apt-cache", "policy", name]);
  return /Candidate: (?!\(none\))/.test(stdout);
}

/**
 * Installs the missing packages.
 *
 * @throws SwarmError `CONFIG_INVALID` when some are missing and this process is not root.
 */
export async function installPackages(names: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of names) {
    const { stdout } = await tryProgram(["dpkg-query", "-W", "-f=${Status}", name]);
    if (!stdout.endsWith("ok installed")) missing.push(name);
  }
  if (missing.length === 0) return;
  if (Deno.uid() !== 0) {
    throw new SwarmError(
      "CONFIG_INVALID",
      `Cannot install packages without root: ${missing.join(" ")}`,
      {
        hint: `Run: sudo apt-get install -y --no-install-recommends ${missing.join(" ")}`,
      },
    );
  }
  await runProgram(["apt-get", "install", "-y", "--no-install-recommends", ...missing], {
    env: { DEBIAN_FRONTEND: "noninteractive" },
  });
}

/** Updates the machine's package lists. Does nothing without root. */
export async function updateLists(): Promise<void> {
  if (Deno.uid() === 0) await tryProgram(["apt-get", "update"]);
}

/** Returns the Debian mirror of the machine's apt configuration. */
export async function debianMirror(): Promise<string> {
  const targets = await runProgram([
    "apt-get",
    "indextargets",
    "--format",
    "$(ORIGIN) $(COMPONENT) $(REPO_URI)",
    "Created-By: Packages",
  ]);
  const mirror = targets.split("\n")
    .map((line) => line.split(" "))
    .find(([origin, component, uri]) =>
      origin === "Debian" && component === "main" && !uri?.includes("security")
    )?.[2];
  if (mirror !== undefined) return mirror.replace(/\/$/, "");
  throw new SwarmError("CONFIG_INVALID", "Cannot find a Debian mirror in apt's configuration", {
    hint: "Run: apt-get update",
  });
}

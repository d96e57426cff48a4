#!/usr/bin/env node
// The file that npm runs. It imports nothing that an old Node lacks, which would refuse to link the
// command and print a stack.
import process from "node:process";
import * as util from "node:util";

if ("styleText" in util && "parseEnv" in util) {
  await import("./command.js");
} else {
  process.stderr.write(
    `error: Cannot run supaswarm with Node ${process.versions.node} [NODE_OUTDATED]\n` +
      "Install Node 22 or newer, or Deno 2.9.6 or newer.\n",
  );
  process.exitCode = 1;
}

/** `deno task package`: builds the npm package of the client. */
import { runCommand } from "./cli/run_command.ts";
import { buildPackage, PACKAGE_FOLDER } from "./package/build_package.ts";
import { writeLine } from "./terminal.ts";

await runCommand(
  {
    name: "deno task package",
    summary:
      "Builds client/dist, the npm package supaswarm, whose entry supaswarm/client users import.",
    options: {},
  },
  async () => {
    const { compressedBytes } = await buildPackage();
    writeLine(`Built ${PACKAGE_FOLDER}`);
    writeLine(`client.js has ${(compressedBytes / 1024).toFixed(1)} KB when compressed`);
  },
);

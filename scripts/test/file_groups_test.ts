import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { readFileGroups } from "./file_groups.ts";

Deno.test("readFileGroups() groups units, files with the same shared fixture, and those that open their own", async () => {
  const root = await Deno.makeTempDir({ prefix: "supaswarm-groups-" });
  const sources = {
    "shared/platform/values/unit_test.ts": "",
    "tests/a/sharing_test.ts": `import { sharedPlatform } from "../mcp/shared_platform.ts";\n`,
    "tests/gateway/mcp/near_test.ts": `import { sharedPlatform } from "./shared_platform.ts";\n`,
    "tests/gateway/mcp/alone_test.ts": `import { bootMcpPlatform } from "./mcp_platform.ts";\n`,
    "tests/engine/worker/own_test.ts": `import { openSwarm } from "./swarm_fixture.ts";\n`,
    "tests/engine/worker/cpu_test.ts":
      `import { timed } from "../../../scripts/test/cpu_time.ts";\n`,
    "tests/security/settings_test.ts": `Deno.env.set("A", "b");\n`,
    "tests/simulation/own_test.ts": "",
    "tests/stack/own_test.ts": "",
    "lab/simulation/world_test.ts": "",
    "lab/bench/rounds_test.ts": "",
    "tests/models/llm/pure_test.ts": "",
    "tests/servers/quoth/sync_test.ts": `import { openSharedSync } from "./shared_sync.ts";\n`,
  };
  try {
    for (const [file, source] of Object.entries(sources)) {
      await Deno.mkdir(dirname(join(root, file)), { recursive: true });
      await Deno.writeTextFile(join(root, file), source);
    }

    const groups = await readFileGroups(root, Object.keys(sources));

    const names = Object.fromEntries(
      Object.entries(groups).map(([file, { name }]) => [file, name]),
    );
    assert.deepEqual(names, {
      "lab/bench/rounds_test.ts": "units",
      "lab/simulation/world_test.ts": "simulated",
      "shared/platform/values/unit_test.ts": "units",
      "tests/a/sharing_test.ts": "shared_platform",
      "tests/engine/worker/own_test.ts": "engine",
      "tests/gateway/mcp/alone_test.ts": "gateway",
      "tests/gateway/mcp/near_test.ts": "shared_platform",
      "tests/models/llm/pure_test.ts": "units",
      "tests/servers/quoth/sync_test.ts": "shared_sync",
      "tests/stack/own_test.ts": "stack",
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

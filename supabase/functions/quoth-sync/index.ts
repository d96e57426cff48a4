import { createQuothSyncApp } from "../../../shared/app/quoth_sync_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `POST` from GitHub's webhook or with a secret key queues a sync and answers 202 at once.
const log = createLogger("quoth-sync");
surviveStrayErrors(log);
const app = createQuothSyncApp(readConfig(), log);
addEventListener("beforeunload", () => app.unload());
Deno.serve((request) => app.fetch(request));

import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { createWorkerApp } from "../../../shared/app/worker_app.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `POST` wakes the worker of this isolate: 202 with its id, and it looks for tasks at once.
const log = createLogger("supaswarm-worker");
surviveStrayErrors(log);
const app = createWorkerApp(readConfig(), log);
addEventListener("beforeunload", () => app.unload());
Deno.serve((request) => app.fetch(request));

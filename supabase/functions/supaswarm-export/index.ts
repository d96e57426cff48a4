import { createExportApp } from "../../../shared/app/export_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `POST` writes the days that are due to Storage as CSV; with a secret key today as well.
const log = createLogger("supaswarm-export");
surviveStrayErrors(log);
const app = createExportApp(readConfig(), log);
Deno.serve((request) => app.fetch(request));

import { createExportApp } from "../../../shared/app/export_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST` writes the days that are due to Storage as CSV; a secret key can also export today.
serveApp("supaswarm-export", createExportApp);

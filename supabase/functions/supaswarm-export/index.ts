import { createExportApp } from "../../../shared/app/export_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST` writes the days that are due to Storage as CSV; with a secret key today as well.
serveApp("supaswarm-export", createExportApp);

import { createQuothSyncApp } from "../../../shared/app/quoth_sync_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST` from GitHub's webhook or with a secret key queues a sync and answers 202 immediately.
serveApp("quoth-sync", createQuothSyncApp);

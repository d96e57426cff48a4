import { createWorkerApp } from "../../../shared/app/worker_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST` wakes the worker of this isolate: 202 with its id, and it looks for tasks at once.
serveApp("supaswarm-worker", createWorkerApp);

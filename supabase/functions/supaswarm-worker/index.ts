import { createWorkerApp } from "../../../shared/app/worker_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST` wakes the worker of this isolate, which looks for tasks immediately, and answers 202 with its id.
serveApp("supaswarm-worker", createWorkerApp);

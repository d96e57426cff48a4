import { serveApp } from "../../../shared/app/serve_app.ts";
import { createWebhooksApp } from "../../../shared/app/webhooks_app.ts";

// `POST` from the database or with a secret key sends due messages in the background.
serveApp("supaswarm-webhooks", createWebhooksApp);

import { serveApp } from "../../../shared/app/serve_app.ts";
import { createWebhooksApp } from "../../../shared/app/webhooks_app.ts";

// `POST` from the database or with a secret key: messages that are due are sent in the background.
serveApp("supaswarm-webhooks", createWebhooksApp);

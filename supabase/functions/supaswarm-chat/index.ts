import { createChatApp } from "../../../shared/app/chat_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST /<agent>` answers a chat page of the AI SDK, `POST /<agent>/ag-ui` one of AG-UI.
serveApp("supaswarm-chat", createChatApp);

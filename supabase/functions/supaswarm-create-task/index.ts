import { createCreateTaskApp } from "../../../shared/app/create_task_app.ts";
import { serveApp } from "../../../shared/app/serve_app.ts";

// `POST {agent, input, …}` creates a master task and answers 201 with its id and channels.
serveApp("supaswarm-create-task", createCreateTaskApp);

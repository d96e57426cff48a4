import { createCreateTaskApp } from "../../../shared/app/create_task_app.ts";
import { surviveStrayErrors } from "../../../shared/app/survive_stray_errors.ts";
import { readConfig } from "../../../shared/config/env.ts";
import { createLogger } from "../../../shared/log/logger.ts";

// `POST {agent, input, …}` creates a master task and answers 201 with its id and channels.
const log = createLogger("supaswarm-create-task");
surviveStrayErrors(log);
const app = createCreateTaskApp(readConfig(), log);
Deno.serve((request) => app.fetch(request));

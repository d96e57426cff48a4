import type { StopSequence } from "../../stack/stop_sequence.ts";
import { type Environment, readEnvironment } from "../../stack/stack_environment.ts";
import { type Stack, type StackOptions, startStack } from "../../stack/stack.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { watchContext } from "../context/watch_context.ts";
import { startEmbeddingServer } from "../embedding/embedding_server.ts";
import { startLocalFileServer } from "../files/local_file_server.ts";
import { DEMO_AGENTS } from "../models/demo_agents.ts";
import { type ModelServer, startModelServer } from "../models/model_server.ts";
import { configureProject } from "./configure_project.ts";
import { checkSettings, functionSettings } from "./function_settings.ts";
import { ollamaUrl } from "./ollama_url.ts";
import { registerLocalFiles } from "./register_local_files.ts";

/** A running stack with the platform. */
export interface LocalPlatform extends Stack {
  /** Plays the seeded demo agents. Its journal has the requests to models. */
  readonly models: ModelServer;
}

/** Options of {@linkcode startPlatform}. */
export interface PlatformOptions extends Omit<StackOptions, "functionSettings" | "startCompanion"> {
  /** Folder that the seeded agents planner and reader may read. @default no file tool */
  readonly filesFolder?: string;
}

/**
 * Starts the whole platform: the embedded Supabase, scripted models, and an embedder that needs no
 * key. Writes the product's settings to the database. `stop()` of the stack stops all of it.
 *
 * @throws SwarmError CONFIG_INVALID for a bad setting, or an error of {@linkcode startStack}.
 * Everything already started is stopped first.
 */
export async function startPlatform(options: PlatformOptions): Promise<LocalPlatform> {
  const env = options.env ?? await readEnvironment(options.projectRoot);
  checkSettings(env);
  if (env.OLLAMA_HOST) ollamaUrl(env.OLLAMA_HOST);
  const models = Promise.withResolvers<ModelServer>();
  const stack = await startStack({
    ...options,
    env,
    functionSettings,
    startCompanion: async (stops) => {
      const server = await startScriptedModels(stops);
      models.resolve(server);
      return {
        prepare: async (stack) => {
          await prepareProject({ ...stack, models: server, env, stops });
          await serveFiles(options.filesFolder, { ...stack, stops });
          await publishContext(options, { ...stack, stops });
        },
      };
    },
  });
  return { ...stack, models: await models.promise };
}

async function startScriptedModels(stops: StopSequence): Promise<ModelServer> {
  const server = await startModelServer({ agents: DEMO_AGENTS });
  stops.add("scripted models", () => server.stop());
  return server;
}

async function prepareProject({ dbUrl, apiUrl, models, env, stops }: {
  readonly dbUrl: string;
  readonly apiUrl: string;
  readonly models: ModelServer;
  readonly env: Environment;
  readonly stops: StopSequence;
}): Promise<void> {
  const embeddings = startEmbeddingServer();
  stops.add("embeddings", () => embeddings.stop());
  await configureProject({
    dbUrl,
    apiUrl,
    scriptedModelUrl: models.url,
    embeddingUrl: embeddings.url,
    environment: env,
  });
}

/** Publishes what `generate_sql` has learned, now and whenever its file is saved. */
async function publishContext(
  { projectRoot, watch, onLog }: PlatformOptions,
  { dbUrl, stops }: { readonly dbUrl: string; readonly stops: StopSequence },
): Promise<void> {
  if (!watch) return;
  const sql = createSql(dbUrl, { maxConnections: 1, applicationName: "context-watch" });
  stops.add("connection of the context", () => sql.end({ timeout: 1 }));
  const context = await watchContext({
    projectRoot,
    sql,
    log: (level, event, fields) =>
      onLog({ at: new Date().toISOString(), level, source: "context", event, ...fields }),
  });
  stops.add("context of SQL", () => context.stop());
}

async function serveFiles(
  folder: string | undefined,
  { dbUrl, stops }: { readonly dbUrl: string; readonly stops: StopSequence },
): Promise<void> {
  if (folder === undefined) return;
  const files = startLocalFileServer(folder);
  stops.add("files", () => files.stop());
  await registerLocalFiles(dbUrl, files);
}

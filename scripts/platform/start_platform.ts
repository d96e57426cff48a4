import { join } from "node:path";
import type { StopSequence } from "../../stack/stop_sequence.ts";
import { type Environment, readEnvironment } from "../../stack/stack_environment.ts";
import { type Stack, type StackOptions, startStack } from "../../stack/stack.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { watchContext } from "../context/watch_context.ts";
import { startEmbeddingServer } from "../embedding/embedding_server.ts";
import { startLocalFileServer } from "../files/local_file_server.ts";
import { loadYaml } from "../deps.ts";
import { DEMO_AGENTS } from "../models/demo_agents.ts";
import { type ModelServer, startModelServer } from "../models/model_server.ts";
import { createScriptFinder } from "../models/script/script_finder.ts";
import { configureProject } from "./configure_project.ts";
import { checkSettings, functionSettings } from "./function_settings.ts";
import type { OpenLogger as Logger } from "../../shared/platform/log/logger.ts";
import { watchDefinitions } from "../push/watch_definitions.ts";
import { findLocalModels, type LocalModels } from "./find_local_models.ts";
import { registerLocalFiles } from "./register_local_files.ts";

/** A running stack with the platform. */
export interface LocalPlatform extends Stack {
  /** Plays the agents that have a script. Its journal has the requests to models. */
  readonly models: ModelServer;
  /** Ports that the platform opens besides those of the stack. */
  readonly opened: readonly OpenedPort[];
  /** Names of the secrets that were copied to Vault, and which jobs use. */
  readonly copiedSecrets: readonly string[];
  /** The model server of the provider local-model; null if none was found. */
  readonly localModels: LocalModels | null;
}

/** A port of this machine. */
export interface OpenedPort {
  readonly url: string;
  /** What it serves, and to whom if not to every program of this machine. */
  readonly serves: string;
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
  const localModels = await findLocalModels(env);
  const models = Promise.withResolvers<ModelServer>();
  const opened: OpenedPort[] = [];
  const copiedSecrets: string[] = [];
  const stack = await startStack({
    ...options,
    env,
    functionSettings: (variables, limits) => functionSettings(variables, limits, options.db),
    startCompanion: async (stops) => {
      const server = await startScriptedModels(options.projectRoot, stops);
      models.resolve(server);
      opened.push({ url: server.url, serves: "the scripted model, for agents with a script" });
      return {
        prepare: async (stack) => {
          copiedSecrets.push(
            ...await prepareProject({ ...stack, models: server, env, stops, opened, localModels }),
          );
          await serveFiles(options.filesFolder, { ...stack, stops, opened });
          await followFiles(options, { ...stack, stops, env });
        },
      };
    },
  });
  return { ...stack, models: await models.promise, opened, copiedSecrets, localModels };
}

async function startScriptedModels(
  projectRoot: string,
  stops: StopSequence,
): Promise<ModelServer> {
  const server = await startModelServer();
  stops.add("scripted models", () => server.stop());
  server.useFinder(createScriptFinder({
    folder: join(projectRoot, "agents"),
    programs: DEMO_AGENTS,
    yaml: await loadYaml(),
  }));
  return server;
}

/** @returns The names of the secrets that were copied to Vault. */
async function prepareProject({ dbUrl, apiUrl, models, env, stops, opened, localModels }: {
  readonly dbUrl: string;
  readonly apiUrl: string;
  readonly models: ModelServer;
  readonly env: Environment;
  readonly stops: StopSequence;
  readonly opened: OpenedPort[];
  readonly localModels: LocalModels | null;
}): Promise<readonly string[]> {
  const embeddings = startEmbeddingServer();
  opened.push({ url: embeddings.url, serves: "embeddings" });
  stops.add("embeddings", () => embeddings.stop());
  return await configureProject({
    dbUrl,
    apiUrl,
    scriptedModelUrl: models.url,
    embeddingUrl: embeddings.url,
    environment: env,
    localModels,
  });
}

/** Pushes the files of agents, and publishes what `generate_sql` has learned, now and when saved. */
async function followFiles(
  { projectRoot, watch, onLog }: PlatformOptions,
  { dbUrl, stops, env }: {
    readonly dbUrl: string;
    readonly stops: StopSequence;
    readonly env: Environment;
  },
): Promise<void> {
  if (!watch) return;
  const sql = createSql(dbUrl, { maxConnections: 1, applicationName: "supaswarm files" });
  stops.add("connection of the files", () => sql.end({ timeout: 1 }));
  const logger = (source: string): Logger => (level, event, fields) =>
    onLog({ at: new Date().toISOString(), level, source, event, ...fields });
  stops.add("context of SQL", await watchContext({ projectRoot, sql, log: logger("context") }));
  const options = { projectRoot, sql, environment: env, log: logger("push") };
  stops.add("files of agents", await watchDefinitions(options));
}

async function serveFiles(
  folder: string | undefined,
  { dbUrl, stops, opened }: {
    readonly dbUrl: string;
    readonly stops: StopSequence;
    readonly opened: OpenedPort[];
  },
): Promise<void> {
  if (folder === undefined) return;
  const files = startLocalFileServer(folder);
  opened.push({ url: files.url, serves: `files of ${folder}, with the key that is in Vault` });
  stops.add("files", () => files.stop());
  await registerLocalFiles(dbUrl, files);
}

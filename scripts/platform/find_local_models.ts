import { z } from "../../shared/vendor/zod.js";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { Environment } from "../../stack/stack_environment.ts";
import { ollamaUrl } from "./ollama_url.ts";

/** A server of models in OpenAI's wire format. */
export interface LocalModels {
  /** Where it was found: a variable, or the program that usually has the port. */
  readonly source: string;
  readonly baseUrl: string;
  /** The model to use by default; null if the server names none or does not answer. */
  readonly model: string | null;
}

/** Where model servers listen by default, in the order in which they are asked. */
const USUAL_PORTS = [
  ["Ollama", 11434],
  ["LM Studio", 1234],
  ["llama.cpp", 8080],
  ["vLLM", 8000],
] as const;
/** A server on this machine that lists its models answers faster. */
const ANSWER_MS = 1_000;
/** Models that do not chat. */
const NOT_FOR_CHAT = /embed|rerank|whisper|tts|bge-|clip/i;

const listSchema = z.object({
  data: z.array(z.object({ id: z.string().min(1).max(200) })),
});

/**
 * Finds a model server that needs no key of a vendor: that of `OPENAI_BASE_URL` or `OLLAMA_HOST`,
 * else one that answers on a usual port of this machine. Null when there is none.
 *
 * @throws SwarmError CONFIG_INVALID for a variable that is not an address.
 */
export async function findLocalModels(
  environment: Environment,
  ports: readonly (readonly [string, number])[] = USUAL_PORTS,
): Promise<LocalModels | null> {
  const { OPENAI_BASE_URL: baseUrl, OLLAMA_HOST: ollamaHost, OPENAI_API_KEY: key } = environment;
  if (baseUrl) return await namedServer("OPENAI_BASE_URL", checkedUrl(baseUrl), key);
  if (ollamaHost) return await namedServer("OLLAMA_HOST", ollamaUrl(ollamaHost), undefined);
  const answers = await Promise.all(
    ports.map(async ([source, port]) => {
      const url = `http://127.0.0.1:${port}/v1`;
      const models = await listModels(url, undefined);
      return models === null ? null : { source, baseUrl: url, model: chatModelOf(models) };
    }),
  );
  return answers.find((answer) => answer !== null && answer.model !== null) ?? null;
}

/** It may start later, so it counts although it does not answer yet. */
async function namedServer(
  source: string,
  baseUrl: string,
  key: string | undefined,
): Promise<LocalModels> {
  const models = await listModels(baseUrl, key);
  return { source, baseUrl, model: models === null ? null : chatModelOf(models) };
}

function chatModelOf(models: readonly string[]): string | null {
  return models.find((name) => !NOT_FOR_CHAT.test(name)) ?? null;
}

/** Null when nothing there lists models in OpenAI's form. */
async function listModels(
  baseUrl: string,
  key: string | undefined,
): Promise<readonly string[] | null> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/$/, "")}/models`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: "error",
    });
    const text = await response.text();
    if (!response.ok) return null;
    return listSchema.parse(JSON.parse(text)).data.map(({ id }) => id);
  } catch {
    // Nothing listens there, or something else.
    return null;
  }
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return text.replace(/\/$/, "");
  throw new SwarmError("CONFIG_INVALID", `Cannot read OPENAI_BASE_URL: it is '${text}'`, {
    hint: "Set it to an address such as http://127.0.0.1:8080/v1.",
  });
}

import { gunzipSync, inflateSync } from "node:zlib";
import { walkFiles } from "./walk_files.ts";
import { loadYaml, type YamlModule } from "../../scripts/deps.ts";
import { definedOnly } from "../../shared/platform/values/defined_only.ts";
import { isJsonObject } from "../../shared/platform/values/json.ts";
import type { Recording, WireForm } from "./recording.ts";
import { partsOfStream, toEventStream, wireFormOf } from "./wire_form.ts";

/** Finds the recorded answers of chat models in folders, in formats that our adapters read. */
export async function* findRecordings(folders: readonly string[]): AsyncGenerator<Recording> {
  const yaml = await loadYaml();
  for (const folder of folders) {
    for await (const path of walkFiles(folder)) {
      if (/\/__fixtures__\/.*\.(json|chunks\.txt)$/.test(path)) yield* readFixture(path);
      else if (/\/cassettes\/.*\.yaml$/.test(path)) yield* readCassette(path, yaml);
    }
  }
}

/** A fixture of the AI SDK: a whole answer, or a line for each event of a stream. */
async function* readFixture(path: string): AsyncGenerator<Recording> {
  const text = await Deno.readTextFile(path);
  const isStream = path.endsWith(".txt");
  const all = isStream
    ? text.split("\n").filter((line) => line.trim() !== "").map(parseOrNull)
    : [parseOrNull(text)];
  const form = all.map(wireFormOf).find((found) => found !== null);
  // A line that is not JSON is no event of a provider.
  if (form === undefined || all.includes(null)) return;
  const provider = /packages\/([^/]+)\//.exec(path)?.[1] ?? "unknown";
  for (const parts of form === "responses" && isStream ? splitResponses(all) : [all]) {
    const body = isStream ? toEventStream(form, parts) : text;
    yield { name: path, provider, form, status: 200, body, isStream, parts };
  }
}

/** The streams of several responses, one after the other in one file. */
function splitResponses(parts: readonly unknown[]): unknown[][] {
  const streams: unknown[][] = [];
  for (const part of parts) {
    const isFirst = isJsonObject(part) && part.type === "response.created";
    if (isFirst || streams.length === 0) streams.push([]);
    streams.at(-1)?.push(part);
  }
  return streams;
}

/** A VCR cassette: requests and their responses. */
async function* readCassette(path: string, yaml: YamlModule): AsyncGenerator<Recording> {
  const { interactions } = yaml.parse(await Deno.readTextFile(path), { logLevel: "silent" }) ?? {};
  let next: Recording | undefined;
  const recordings: Recording[] = [];
  for (const [place, interaction] of [...[...interactions ?? []].entries()].reverse()) {
    // Those of a WebSocket have another form.
    if (interaction.request === undefined) continue;
    const recording = toRecording(
      `${path.replace(/^.*?(?=tests\/)/, "")} #${place + 1}`,
      interaction,
    );
    if (recording === null) continue;
    next = { ...recording, ...definedOnly({ next }) };
    recordings.unshift(next);
  }
  yield* recordings;
}

/** Null for a response that is not an answer of a chat model. */
function toRecording(name: string, { request, response }: Interaction): Recording | null {
  const url = URL.parse(request.uri);
  const form = url === null ? null : formOfPath(url);
  const text = bodyOf(response);
  if (url === null || form === null || text === null || request.method !== "POST") return null;
  const type = Object.entries(response.headers ?? {})
    .find(([header]) => header.toLowerCase() === "content-type")?.[1];
  const isStream = String(type).includes("event-stream");
  const parts = isStream ? partsOfStream(text) : [parseOrNull(text)];
  if (parts.length === 0 || parts.includes(null)) return null;
  const provider = url.hostname.replace(/^api\./, "").replace(/^.*-(?=aiplatform)/, "");
  return { name, provider, form, status: response.status.code, body: text, isStream, parts };
}

/** What this reads of a cassette. */
interface Interaction {
  readonly request: { readonly method: string; readonly uri: string };
  readonly response: {
    readonly status: { readonly code: number };
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly body?: { readonly string?: unknown };
    readonly parsed_body?: unknown;
  };
}

function formOfPath({ pathname }: URL): WireForm | null {
  if (pathname.endsWith("/chat/completions")) return "chat";
  if (pathname.endsWith("/responses")) return "responses";
  if (/\/messages$/.test(pathname) || /\/anthropic\/.*:(stream)?[rR]awPredict$/.test(pathname)) {
    return "anthropic";
  }
  return /:(generateContent|streamGenerateContent)$/.test(pathname) ? "google" : null;
}

function bodyOf({ body, parsed_body }: Interaction["response"]): string | null {
  if (parsed_body !== undefined) return JSON.stringify(parsed_body);
  if (typeof body?.string === "string") return body.string;
  return body?.string instanceof Uint8Array
    ? new TextDecoder().decode(unzipped(body.string))
    : null;
}

function unzipped(bytes: Uint8Array): Uint8Array {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes);
  return bytes[0] === 0x78 ? inflateSync(bytes) : bytes;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

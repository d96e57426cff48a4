import { MODEL_LIMITS } from "../../platform/json/json_limits.ts";
import { describeExcess, parseJson } from "../../platform/json/parse_json.ts";
import type { Bytes } from "../../platform/values/bytes.ts";
import { type ServerSentEvent, ServerSentEvents } from "../../platform/net/server_sent_events.ts";
import { createTurns } from "../../platform/values/in_turns.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import type { AnswerBuilder } from "./answer_builder.ts";
import { isFilled } from "./answer_fields.ts";

/** A part of a stream that is read without a pause for other work. */
const PIECE_CHARACTERS = 16_384;

/** Takes an answer in, in the format of one API. */
export interface AnswerReader {
  /** What is read so far. */
  readonly answer: AnswerBuilder;
  /** Reads the whole answer or an event of its stream. */
  read(document: JsonObject): void;
}

/**
 * Reads an answer in whichever form it arrives: as one document, as a list of the stream's documents,
 * or as server-sent events, whatever was asked for and whatever its media type says.
 *
 * @throws an object of the server that reports an error, or Error for a body that cannot be read.
 */
export async function readAnswer(
  body: ReadableStream<Bytes> | null,
  reader: AnswerReader,
): Promise<void> {
  // It leaves out a byte order mark.
  const decoder = new TextDecoder();
  const events = new ServerSentEvents();
  const turn = createTurns();
  const takeEvents = async (text: string) => {
    for (let at = 0; at < text.length; at += PIECE_CHARACTERS) {
      for (const event of events.push(text.slice(at, at + PIECE_CHARACTERS))) {
        await takeEvent(event, reader, turn);
      }
      await turn();
    }
  };
  let form: "unknown" | "document" | "events" = "unknown";
  let text = "";
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (form === "unknown") {
      // Some servers keep a connection open with white space until the answer begins.
      text = text.trimStart();
      if (text !== "") form = /^[{[]/.test(text) ? "document" : "events";
    }
    if (form !== "events") continue;
    await takeEvents(text);
    text = "";
    if (reader.answer.isEnded) return;
  }
  text += decoder.decode();
  if (form === "document") return readDocument(text, reader, turn);
  await takeEvents(text);
  for (const event of events.end()) await takeEvent(event, reader, turn);
}

/** Yields to other work where much was read. */
type Turn = () => Promise<void>;

async function readDocument(text: string, reader: AnswerReader, turn: Turn): Promise<void> {
  const document = parsed(text);
  if (document === undefined) throw new Error("it is not JSON");
  for (const one of Array.isArray(document) ? document : [document]) {
    await turn();
    takeDocument(one, reader);
  }
  reader.answer.end();
}

async function takeEvent(event: ServerSentEvent, reader: AnswerReader, turn: Turn): Promise<void> {
  if (reader.answer.isEnded) return;
  await turn();
  const { name } = event;
  const data = [...event.data, ...event.stray];
  const [first = ""] = data;
  // Some servers end an event with one line break instead of two: each line is a document then.
  const isLines = data.length > 1 && parsed(first) !== undefined;
  const document = isLines ? undefined : parsed(data.join("\n"));
  if (document !== undefined) return takeDocument(document, reader, name);
  for (const line of data) {
    await turn();
    const single = parsed(line);
    if (single === undefined) takeText(line, reader);
    else takeDocument(single, reader, name);
  }
}

/** Takes data that is no JSON. */
function takeText(data: string, reader: AnswerReader): void {
  reader.answer.count();
  const text = data.trim();
  if (text === "[DONE]") return reader.answer.end();
  if (text === "") return;
  const what = `an event that is not JSON: ${text}`;
  if (/^[{[]/.test(text)) reader.answer.lose(what);
  else reader.answer.leaveOut(what);
}

function takeDocument(document: JsonValue, reader: AnswerReader, name = ""): void {
  reader.answer.count();
  if (Array.isArray(document)) return document.forEach((one) => takeDocument(one, reader, name));
  if (!isJsonObject(document)) {
    if (document !== null) reader.answer.leaveOut(`a document that is no object: ${document}`);
    return;
  }
  const { type = name, error } = document;
  if (isFilled(error) || type === "error" || document.object === "error") {
    throw isFilled(error) ? document : { error: document };
  }
  reader.read(document.type === undefined && name !== "" ? { ...document, type } : document);
}

/** @throws Error for a document that exceeds the limits. */
function parsed(text: string): JsonValue | undefined {
  const json = parseJson(text, MODEL_LIMITS);
  if (json.kind === "too_large") throw new Error(describeExcess(json.excess));
  return json.kind === "json" ? json.value : undefined;
}

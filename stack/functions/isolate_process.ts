/**
 * The process that holds all isolates. The stack starts it with the environment of the edge
 * functions only, so that functions cannot see the stack's variables. It exits when its stdin ends.
 */
import {
  decodeMessage,
  encodeMessage,
  type IsolateCommand,
  type IsolateEvent,
} from "./isolate_protocol.ts";
import { readLines } from "./read_lines.ts";

const encoder = new TextEncoder();
const workers = new Map<number, Worker>();
/**
 * Folders that functions may read: their code, and npm packages, some of which read their files.
 */
const readableFolders: readonly string[] = JSON.parse(Deno.args[0] ?? "[]");
const writableFolder = Deno.args[1] ?? "";

// Signals often reach the whole process group, but the stack decides when this process stops.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  if (Deno.build.os !== "windows") Deno.addSignalListener(signal, () => {});
}

for await (const line of readLines(Deno.stdin.readable)) {
  const command = decodeMessage<IsolateCommand>(line);
  if (command !== null) handleCommand(command);
}
await Deno.remove(writableFolder, { recursive: true }).catch(() => {});
Deno.exit(0);

function handleCommand(command: IsolateCommand): void {
  switch (command.type) {
    case "start":
      return start(command);
    case "retire":
    case "unload":
    case "ping":
      return workers.get(command.isolate)?.postMessage(command);
    case "terminate":
      return terminate(command.isolate);
  }
}

function start(command: IsolateCommand & { type: "start" }): void {
  const { isolate, name } = command;
  const worker = new Worker(new URL("./isolate_worker.ts", import.meta.url), {
    type: "module",
    name,
    deno: {
      permissions: {
        net: true,
        env: true,
        sys: true,
        import: "inherit",
        read: [...readableFolders, writableFolder],
        write: [writableFolder],
        run: false,
        ffi: false,
      },
    },
  });
  worker.onmessage = ({ data: event }: MessageEvent<IsolateEvent>) => {
    report(event);
    if (event.type === "failed" || event.type === "ended") terminate(isolate);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    const at = event.filename ? ` (${event.filename}:${event.lineno})` : "";
    report({ type: "crashed", isolate, message: `${event.message}${at}` });
    terminate(isolate);
  };
  workers.set(isolate, worker);
  report({ type: "started", isolate });
  worker.postMessage(command);
}

function terminate(isolate: number): void {
  workers.get(isolate)?.terminate();
  workers.delete(isolate);
}

/** Writes a report synchronously, so that lines of different isolates never mix. */
function report(event: IsolateEvent): void {
  let bytes = encoder.encode(encodeMessage(event));
  while (bytes.length > 0) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}

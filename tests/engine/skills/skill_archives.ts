import { loadFflate } from "../../../scripts/deps.ts";

/** Files of an archive by path. */
export type ArchiveFiles = Readonly<Record<string, string>>;

const encoder = new TextEncoder();

export async function zipOf(files: ArchiveFiles): Promise<Uint8Array> {
  const { zipSync } = await loadFflate();
  return zipSync(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, encoder.encode(text)])),
  );
}

/** A gzipped tar archive of the files, with PAX headers for names longer than 100 characters. */
export async function tarGzOf(files: ArchiveFiles, type = "0"): Promise<Uint8Array> {
  const blocks = Object.entries(files).flatMap(([path, text]) => {
    if (path.length <= 100) return entry(path, text, type);
    const record = ` path=${path}\n`;
    const length = record.length + String(record.length + 3).length;
    return [...entry("pax", `${length}${record}`, "x"), ...entry("short", text, type)];
  });
  const tar = new Blob([...blocks, new Uint8Array(1024)]);
  const gzip = tar.stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(gzip).arrayBuffer());
}

function entry(path: string, text: string, type: string): Uint8Array<ArrayBuffer>[] {
  const content = encoder.encode(text);
  const header = new Uint8Array(512);
  const put = (value: string, offset: number) => header.set(encoder.encode(value), offset);
  put(path, 0);
  put("0000644\0", 100);
  put(content.byteLength.toString(8).padStart(11, "0") + "\0", 124);
  put("        ", 148);
  put(type, 156);
  put("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(sum.toString(8).padStart(6, "0") + "\0 ", 148);
  const padded = new Uint8Array(Math.ceil(content.byteLength / 512) * 512);
  padded.set(content);
  return [header, padded];
}

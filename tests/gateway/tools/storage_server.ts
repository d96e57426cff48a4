/** A replacement for Storage that keeps objects in memory. */
export interface StorageServer extends AsyncDisposable {
  readonly url: string;
  /** By path in the bucket `supaswarm-data`. */
  readonly files: Map<string, { readonly text: string; readonly type: string }>;
  failSigning: boolean;
}

const BUCKET_PATH = "/storage/v1/object/supaswarm-data/";
const SIGN_PATH = "/storage/v1/object/sign/supaswarm-data/";

/** Starts it on a free port. */
export function startStorage(): StorageServer {
  const files: StorageServer["files"] = new Map();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const storage: StorageServer = {
    url: `http://127.0.0.1:${server.addr.port}`,
    files,
    failSigning: false,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return storage;

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith(SIGN_PATH)) return sign(request, pathname, searchParams);
    const path = decodeURIComponent(pathname.slice(BUCKET_PATH.length));
    if (request.method === "DELETE") {
      return Response.json({}, { status: files.delete(path) ? 200 : 400 });
    }
    const type = request.headers.get("content-type") ?? "";
    files.set(path, { text: await request.text(), type });
    return Response.json({ Key: path });
  }

  async function sign(request: Request, pathname: string, query: URLSearchParams) {
    const path = decodeURIComponent(pathname.slice(SIGN_PATH.length));
    const file = files.get(path);
    if (request.method === "GET") {
      return query.get("token") === "signed" && file !== undefined
        ? new Response(file.text)
        : new Response(null, { status: 400 });
    }
    await request.body?.cancel();
    if (storage.failSigning || file === undefined) return new Response(null, { status: 500 });
    const signed = pathname.slice("/storage/v1".length);
    return Response.json({ signedURL: `${signed}?token=signed` });
  }
}

import { fileURLToPath } from "node:url";

/** A served chat page. */
export interface ServedChatPage extends AsyncDisposable {
  readonly url: string;
}

const HTML = `<!doctype html><meta charset="utf-8"><title>Chat</title><div id="root"></div>
<script type="module" src="/page.js"></script>`;

/** Bundles the page with the stock packages, and serves it on 127.0.0.1. */
export async function serveChatPage(): Promise<ServedChatPage> {
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-chat-page-" });
  const entry = fileURLToPath(new URL("page.ts", import.meta.url));
  const bundle = `${folder}/page.js`;
  const built = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform", "browser", "--minify", "-o", bundle, entry],
    stdout: "null",
  }).output();
  if (!built.success) {
    throw new Error(`Cannot bundle the page: ${new TextDecoder().decode(built.stderr)}`);
  }
  const script = await Deno.readTextFile(bundle);
  await Deno.remove(folder, { recursive: true });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const isScript = new URL(request.url).pathname === "/page.js";
    const type = isScript ? "text/javascript" : "text/html";
    return new Response(isScript ? script : HTML, { headers: { "content-type": type } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

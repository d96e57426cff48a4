import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FULL_LOCK } from "../../../scripts/locks/lock_files.ts";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { codeBlocks } from "../../docs/code_blocks.ts";

/** A served chat page. */
export interface ServedChatPage extends AsyncDisposable {
  readonly url: string;
}

const HTML = `<!doctype html><meta charset="utf-8"><title>Chat</title><div id="root"></div>
<script type="module" src="/page.js"></script>`;

const HOW_TO = "docs/how-to/build-a-page-with-usechat.md";
/** What the page of the how-to imports. */
const IMPORTS = {
  "@ai-sdk/react": "npm:@ai-sdk/react@4.0.177",
  "@supabase/supabase-js": "npm:@supabase/supabase-js@2.119.1",
  ai: "npm:ai@7.0.173",
  react: "npm:react@19.3.1",
  "react/jsx-runtime": "npm:react@19.3.1/jsx-runtime",
  "react-dom/client": "npm:react-dom@19.3.1/client",
  "supaswarm/client": pathToFileURL(join(PROJECT_ROOT, "client/mod.ts")).href,
};
const SETTINGS = `const given = JSON.parse(decodeURIComponent(location.hash.slice(1)));
export const { apiUrl, publishableKey } = given;
export const accessToken = () => Promise.resolve(given.accessToken);
`;

/** Serves the test's own page with the stock packages. */
export async function serveChatPage(): Promise<ServedChatPage> {
  return await serve(await bundle(fileURLToPath(new URL("page.ts", import.meta.url))));
}

/** Serves the page of the how-to, for another agent. */
export async function serveHowToPage(agent: string): Promise<ServedChatPage> {
  const text = await Deno.readTextFile(join(PROJECT_ROOT, HOW_TO));
  const [block] = codeBlocks(HOW_TO, text);
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-how-to-" });
  const config = {
    imports: IMPORTS,
    compilerOptions: { jsx: "react-jsx", jsxImportSource: "react" },
    nodeModulesDir: "none",
  };
  await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify(config));
  await Deno.writeTextFile(join(folder, "settings.ts"), SETTINGS);
  const page = (block?.text ?? "").replace('.chat("writer")', `.chat("${agent}")`);
  await Deno.writeTextFile(join(folder, "page.tsx"), page);
  try {
    return await serve(await bundle(join(folder, "page.tsx"), folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function bundle(entry: string, cwd = PROJECT_ROOT): Promise<string> {
  // The folder of the how-to gets a lock file of its own.
  const lock = cwd === PROJECT_ROOT ? [`--lock=${FULL_LOCK}`] : [];
  const built = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", ...lock, "--platform", "browser", "--minify", entry],
    cwd,
  }).output();
  if (built.success) return new TextDecoder().decode(built.stdout);
  throw new Error(`Cannot bundle ${entry}: ${new TextDecoder().decode(built.stderr)}`);
}

function serve(script: string): ServedChatPage {
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

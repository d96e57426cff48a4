import assert from "node:assert/strict";
import { extname, join } from "node:path";
import { writeHostedConsole } from "../../scripts/console/hosted_console.ts";
import { testsSharing } from "../shared_fixture.ts";
import { openConsoleFixture, openReader } from "./console_fixture.ts";

const consoleTest = testsSharing(openConsoleFixture);
/** Below the root of its host, as on the pages of a repository. */
const FOLDER = "/team/console";
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** In the page: asks for a foreign picture, and says which rule of the policy kept it out. */
const INJECT_SCRIPT = `new Promise((resolve) => {
  addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective));
  document.body.append(Object.assign(document.createElement("img"), {
    src: "https://foreign.example/x.png",
  }));
})`;

/** The rules of a `_headers` file: the headers of each pattern. */
function readHeaderRules(text: string): readonly { pattern: string; headers: Headers }[] {
  const rules: { pattern: string; headers: Headers }[] = [];
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const [, name, value] = /^\s+([\w-]+): (.*)$/.exec(line) ?? [];
    if (name === undefined) rules.push({ pattern: line.replace("*", ""), headers: new Headers() });
    else rules.at(-1)?.headers.set(name, value ?? "");
  }
  return rules;
}

/** Any static host: files and nothing else, with the headers of `_headers` if it reads that file. */
async function serveFolder(folder: string, { readsHeaders }: { readonly readsHeaders: boolean }) {
  const rules = readsHeaders
    ? readHeaderRules(await Deno.readTextFile(join(folder, "_headers")))
    : [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (ask) => {
    const { pathname } = new URL(ask.url);
    if (!pathname.startsWith(`${FOLDER}/`)) return new Response(null, { status: 404 });
    const path = pathname.slice(FOLDER.length).replace(/\/$/, "/index.html");
    const body = await Deno.readFile(join(folder, path)).catch(() => null);
    if (body === null) return new Response(null, { status: 404 });
    const headers = new Headers({ "content-type": CONTENT_TYPES[extname(path)] ?? "text/plain" });
    for (const rule of rules.filter(({ pattern }) => path.startsWith(pattern))) {
      for (const [name, value] of rule.headers) headers.set(name, value);
    }
    return new Response(body, { headers });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}${FOLDER}`,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}

for (const readsHeaders of [true, false]) {
  const host = readsHeaders ? "that reads _headers" : "that knows the <meta> policy alone";
  consoleTest(
    `a console in a folder of a static host ${host} signs in and lists jobs`,
    async (fixture) => {
      const { platform: { project }, browser } = fixture;
      const folder = await Deno.makeTempDir({ prefix: "supaswarm-hosted-" });
      try {
        await writeHostedConsole({ ...project, folder });
        await using hosted = await serveFolder(folder, { readsHeaders });
        await using reader = await openReader(browser, { consoleUrl: hosted.url, project });
        const { page } = reader;
        const missing: string[] = [];
        page.on("response", (answer) => {
          if (answer.status() === 404) missing.push(answer.url());
        });

        await reader.signUpByForm(`hosted-${readsHeaders ? "headers" : "meta"}`);
        await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
        for (const name of ["Tools", "Usage", "Settings"]) {
          await page.getByRole("navigation").getByRole("link", { name }).click();
          await page.getByRole("heading", { name, level: 1 }).waitFor();
        }
        await page.reload();
        await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
        const injected = await page.evaluate<string>(INJECT_SCRIPT);

        assert.match(injected, /^img-src$/);
        assert.equal(new URL(page.url()).pathname, `${FOLDER}/`);
        assert.deepEqual(missing, []);
        // All but the picture of this test, which the policy kept out.
        assert.deepEqual(reader.offences.filter((one) => !one.includes("foreign.example")), []);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  );
}

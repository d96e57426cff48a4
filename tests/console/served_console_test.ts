import assert from "node:assert/strict";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildStaleConsole, CONSOLE_DIST } from "../../scripts/console/build_console.ts";
import { writeHostedConsole } from "../../scripts/console/hosted_console.ts";
import { serveTestConsole } from "./console_fixture.ts";

const PROJECT = { apiUrl: "https://abc.example.test", publishableKey: "sb_publishable_test" };
/** A secret key in Supabase's format, or the service role token of an older project. */
const SECRET = /sb_secret_[A-Za-z0-9_-]{8,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}/;

/** The limit of what the first page loads, compressed. */
const FIRST_PAGE_BYTES = 150_000;

/** The built files and their contents by path. */
async function builtFiles(folder: string, below = ""): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(join(folder, below))) {
    const path = join(below, name);
    if (!isDirectory) files.set(path, await Deno.readTextFile(join(folder, path)));
    else for (const [inner, text] of await builtFiles(folder, path)) files.set(inner, text);
  }
  return files;
}

Deno.test("the console is served with its policy, and no other files", async (t) => {
  await buildStaleConsole();
  const served = serveTestConsole(PROJECT);
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${served.url}${path}`, init);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  try {
    await t.step("every answer has the policy and the other headers", async () => {
      for (const path of ["/", "/config.json", "/no-such-file", "/favicon.svg"]) {
        const { headers } = await ask(path);
        const policy = headers.get("content-security-policy") ?? "";
        assert.match(policy, /default-src 'none'/);
        assert.match(policy, /require-trusted-types-for 'script'/);
        assert.match(policy, /frame-ancestors 'none'/);
        assert.match(policy, /connect-src 'self' https:\/\/abc\.example\.test wss:/);
        assert.doesNotMatch(policy, /unsafe-/);
        assert.equal(headers.get("x-content-type-options"), "nosniff");
        assert.equal(headers.get("referrer-policy"), "no-referrer");
      }
    });

    await t.step("config.json names the project and is not cached", async () => {
      const { text, headers } = await ask("/config.json");
      assert.deepEqual(JSON.parse(text), {
        api_url: PROJECT.apiUrl,
        publishable_key: PROJECT.publishableKey,
      });
      assert.equal(headers.get("cache-control"), "no-store");
    });

    await t.step("files with a hash in their name are cached, the page is not", async () => {
      const { text, headers } = await ask("/");
      assert.equal(headers.get("cache-control"), "no-cache");
      const script = /assets\/[^"]+\.js/.exec(text)?.[0] ?? "";
      const asset = await ask(`/${script}`);
      assert.equal(asset.status, 200);
      assert.match(asset.headers.get("cache-control") ?? "", /immutable/);
      assert.match(asset.headers.get("content-type") ?? "", /^text\/javascript/);
    });

    await t.step("files are compressed for browsers, which all accept it", async () => {
      const script = /assets\/[^"]+\.js/.exec((await ask("/")).text)?.[0] ?? "";
      for (const encoding of ["br", "gzip"]) {
        const { headers } = await ask(`/${script}`, { headers: { "accept-encoding": encoding } });
        assert.equal(headers.get("content-encoding"), encoding);
        assert.match(headers.get("vary") ?? "", /accept-encoding/i);
      }
      const { headers } = await ask(`/${script}`, { headers: { "accept-encoding": "identity" } });
      assert.equal(headers.get("content-encoding"), null);
    });

    await t.step("paths outside the folder and missing paths are 404", async () => {
      const paths = [
        "/../deno.json",
        "/..%2f..%2fdeno.json",
        "/%2e%2e/%2e%2e/deno.json",
        "/assets/..%2f..%2f..%2fdeno.json",
        "/assets",
        "/no-such-file",
        "/index.html%00.js",
        "/%E0%A4%A",
      ];
      for (const path of paths) assert.equal((await ask(path)).status, 404, path);
    });

    await t.step("only reads are answered", async () => {
      assert.equal((await ask("/", { method: "POST", body: "x" })).status, 405);
      assert.equal((await ask("/", { method: "HEAD" })).status, 200);
    });
  } finally {
    await served.stop();
  }
});

Deno.test("built files contain no secret key, no foreign address to load and no inline code", async () => {
  await buildStaleConsole();
  const files = await builtFiles(CONSOLE_DIST);
  assert.ok(files.size > 10, `${files.size} files`);
  for (const [path, text] of files) assert.doesNotMatch(text, SECRET, path);
  const page = files.get("index.html") ?? "";
  assert.doesNotMatch(page, /(?:src|href)="(?:https?:)?\/\//);
  assert.doesNotMatch(page, /<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/);
});

Deno.test("the first page loads at most 150 kB, compressed, in few files", async () => {
  await buildStaleConsole();
  const page = await Deno.readTextFile(join(CONSOLE_DIST, "index.html"));
  const loaded = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = ""]) => path);
  const sizes = await Promise.all(
    ["index.html", ...loaded].map(async (path) =>
      gzipSync(await Deno.readFile(join(CONSOLE_DIST, path)), { level: 9 }).byteLength
    ),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes > 50_000 && bytes <= FIRST_PAGE_BYTES, `the first page has ${bytes} bytes`);
  assert.ok(loaded.length <= 10, `the first page loads ${loaded.length} files`);
});

Deno.test("a hosted console is a folder for any static host, and refuses secret keys", async (t) => {
  await buildStaleConsole();
  const folder = await Deno.makeTempDir({ prefix: "supaswarm-hosted-" });
  try {
    await Deno.writeTextFile(join(folder, "own.txt"), "kept");
    await writeHostedConsole({ ...PROJECT, folder });

    await t.step("it has the project, the headers, the policy and the files", async () => {
      const files = await builtFiles(folder);
      assert.deepEqual(JSON.parse(files.get("config.json") ?? ""), {
        api_url: PROJECT.apiUrl,
        publishable_key: PROJECT.publishableKey,
      });
      assert.match(files.get("_headers") ?? "", /content-security-policy: .*frame-ancestors/);
      const page = files.get("index.html") ?? "";
      const policyAt = page.indexOf("Content-Security-Policy");
      assert.ok(policyAt > 0 && policyAt < page.indexOf("<script"), "the policy comes first");
      assert.doesNotMatch(page, /frame-ancestors/);
      assert.equal(files.get("own.txt"), "kept");
      for (const [path, text] of files) assert.doesNotMatch(text, SECRET, path);
    });

    await t.step("a secret key or an invalid address writes nothing", async () => {
      const other = join(folder, "other");
      const refused = [
        { ...PROJECT, publishableKey: "sb_secret_abcdefghijklmnop" },
        { ...PROJECT, apiUrl: "abc.example.test" },
        { ...PROJECT, apiUrl: "javascript:alert(1)" },
      ];
      for (const project of refused) {
        await assert.rejects(writeHostedConsole({ ...project, folder: other }));
      }
      await assert.rejects(Deno.stat(other), Deno.errors.NotFound);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

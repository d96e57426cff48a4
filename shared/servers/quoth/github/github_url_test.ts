import assert from "node:assert/strict";
import { encodePath, webUrlOf } from "./github_url.ts";

Deno.test("webUrlOf() returns the pages of each kind of GitHub", () => {
  const urls = [
    ["https://api.github.com", "https://github.com"],
    ["https://ghe.acme.example/api/v3", "https://ghe.acme.example"],
    ["https://intra.acme.example/git/api/v3/", "https://intra.acme.example/git"],
    ["https://api.acme.ghe.com", "https://acme.ghe.com"],
    ["http://127.0.0.1:8123", "http://127.0.0.1:8123"],
  ] as const;
  for (const [apiUrl, webUrl] of urls) assert.equal(webUrlOf(apiUrl), webUrl);
});

Deno.test("encodePath() escapes everything that ends a path or a link", () => {
  assert.equal(encodePath("a b/c#d?e%/(é)/100%.md"), "a%20b/c%23d%3Fe%25/%28%C3%A9%29/100%25.md");
});

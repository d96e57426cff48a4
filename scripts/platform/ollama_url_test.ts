import assert from "node:assert/strict";
import { ollamaUrl } from "./ollama_url.ts";

Deno.test("ollamaUrl() reads OLLAMA_HOST as Ollama does", () => {
  const cases = {
    "127.0.0.1:11434": "http://127.0.0.1:11434/v1",
    "0.0.0.0": "http://127.0.0.1:11434/v1",
    "localhost": "http://localhost:11434/v1",
    "http://10.0.0.5:8080/": "http://10.0.0.5:8080/v1",
    "https://ollama.example.com": "https://ollama.example.com/v1",
  };
  for (const [host, url] of Object.entries(cases)) assert.equal(ollamaUrl(host), url);
});

Deno.test("ollamaUrl() refuses an invalid address", () => {
  for (const host of ["://", "ftp://x", "a b"]) {
    assert.throws(() => ollamaUrl(host), { code: "CONFIG_INVALID" });
  }
});

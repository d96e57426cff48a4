import { shellWords } from "./shell_words.ts";

/** A request as a curl command describes it. */
export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The parts of the body, in their order; curl joins them with `&`. */
  readonly data: readonly string[];
  readonly isJson: boolean;
  /** Whether it sends files or a form with parts. */
  readonly hasParts: boolean;
  /** `user:password`; null without. */
  readonly user: string | null;
  /** Options that change the request and that a tool cannot have. */
  readonly leftOut: readonly string[];
}

/** True for a text that begins like a curl command. */
export function isCurl(text: string): boolean {
  return /^\s*(\$\s+)?curl(\.exe)?\s/i.test(text);
}

/** Long names of short options. */
const LONG: Readonly<Record<string, string>> = {
  X: "request",
  H: "header",
  d: "data",
  u: "user",
  G: "get",
  I: "head",
  A: "user-agent",
  e: "referer",
  b: "cookie",
  F: "form",
  T: "upload-file",
};
/** Options that have a value, besides those in `READ`. */
const VALUED = [
  ..."oDwmxrKCEcyYPz".split(""),
  ...["output", "dump-header", "write-out", "max-time", "proxy", "range", "config", "cacert"],
  ...[
    "connect-timeout",
    "retry",
    "retry-delay",
    "cert",
    "key",
    "cookie-jar",
    "resolve",
    "limit-rate",
  ],
  ...[
    "upload-file",
    "max-redirs",
    "proxy-user",
    "ciphers",
    "interface",
    "unix-socket",
    "retry-max-time",
  ],
];
const DATA = ["data", "data-raw", "data-ascii", "data-binary", "data-urlencode", "json"];
const READ = [
  ...DATA,
  ...["request", "header", "user", "get", "head", "user-agent", "referer", "cookie", "form", "url"],
  ...["form-string", "oauth2-bearer"],
];
const PARTS = ["form", "form-string", "upload-file"];
const FLAGS = ["get", "head"];

/** Reads a curl command; null if it has no URL. */
export function readCurl(command: string): CurlRequest | null {
  const words = shellWords(command.replace(/^\s*(\$\s+)?curl(\.exe)?\s/i, ""));
  const options: [name: string, value: string][] = [];
  const urls: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (/^[|;&>]/.test(word)) break; // The next command.
    if (!word.startsWith("-") || word === "-") {
      urls.push(word);
      continue;
    }
    for (const { name, value } of optionsOf(word)) {
      const isFlag = FLAGS.includes(name) || !READ.includes(name) && !VALUED.includes(name);
      options.push([name, isFlag ? "" : value ?? words[++at] ?? ""]);
    }
  }
  const valuesOf = (...names: string[]) =>
    options.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const [url] = [...valuesOf("url"), ...urls];
  if (url === undefined || url === "") return null;
  const headers = valuesOf("header").map(headerOf).filter(([name]) => name !== "");
  for (const [name, option] of [["Cookie", "cookie"], ["Referer", "referer"]] as const) {
    headers.push(...valuesOf(option).map((value): [string, string] => [name, value]));
  }
  headers.push(
    ...valuesOf("oauth2-bearer").map((
      value,
    ): [string, string] => ["Authorization", `Bearer ${value}`]),
  );
  const data = valuesOf(...DATA);
  const isGet = valuesOf("get").length > 0;
  const method = valuesOf("request").at(-1)?.toUpperCase() ??
    (valuesOf("head").length > 0 ? "HEAD" : data.length > 0 && !isGet ? "POST" : "GET");
  const hasParts = options.some(([name]) => PARTS.includes(name));
  const leftOut = [
    ...data.filter((part) => part.startsWith("@")).map((part) => `--data ${part}`),
    ...urls.slice(1).map(() => "another URL"),
  ];
  const body = data.filter((part) => !part.startsWith("@"));
  return {
    method,
    url: isGet && body.length > 0 ? `${url}${url.includes("?") ? "&" : "?"}${body.join("&")}` : url,
    headers,
    data: isGet ? [] : body,
    hasParts,
    isJson: valuesOf("json").length > 0,
    user: valuesOf("user").at(-1) ?? null,
    leftOut,
  };
}

/** The options of a word: `--name`, `--name=value`, `-X`, `-XPOST` or several letters. */
function optionsOf(word: string): { readonly name: string; readonly value?: string }[] {
  const long = /^--([^=]+)(?:=([^]*))?$/.exec(word);
  if (long !== null) {
    const [, name = "", value] = long;
    return [value === undefined ? { name } : { name, value }];
  }
  const options: { readonly name: string; readonly value?: string }[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    const name = LONG[letter] ?? letter;
    const rest = word.slice(at + 1);
    const takesValue = !FLAGS.includes(name) && (READ.includes(name) || VALUED.includes(name));
    if (takesValue && rest !== "") return [...options, { name, value: rest }];
    options.push({ name });
    if (takesValue) break;
  }
  return options;
}

function headerOf(text: string): [name: string, value: string] {
  const colon = text.indexOf(":");
  if (colon < 0) return ["", ""];
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

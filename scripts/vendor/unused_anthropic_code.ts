import { withoutBlock, withoutLines, withoutMembers } from "./remove_code.ts";
import type { Patch } from "./vendored_modules.ts";

const API_PROMISE = "sdk/core/api-promise.mjs";
const CLIENT = "sdk/client.mjs";
const MESSAGES = "sdk/resources/messages/messages.mjs";

/** OpenTelemetry. The adapter turns it off, so that no request has a span. */
const TRACING: readonly Patch[] = [
  withoutLines(CLIENT, String.raw`__classPrivateFieldSet\(this, _BaseAnthropic_openTelemetry, .*`),
  withoutLines(CLIENT, String.raw`options\.openTelemetry = .*`),
  withoutLines(CLIENT, String.raw`this\._tracer = .*`),
  withoutLines(CLIENT, String.raw`return new APIPromise\(this, this\.makeTracedRequest\(.*`),
  ...withoutMembers(CLIENT, ["makeTracedRequest"]),
  withoutBlock(CLIENT, String.raw`if \(span && this\.openTelemetry\.propagation\)`),
  withoutBlock(CLIENT, String.raw`if \(requestOptions\.__span\)`),
  withoutBlock(CLIENT, String.raw`if \(call\)`),
  {
    file: CLIENT,
    from: "requestOptions?.__span ? this.backendMiddleware().map(withoutTraceHeaders) : ",
    to: "",
  },
  {
    file: MESSAGES,
    from: /^ +const call = this\._client\._tracer &&\n[^]*?\n +recordMessagesCreateRequest\(.*\n/gm,
    to: "",
  },
  withoutLines(MESSAGES, "__span: call,"),
  { file: MESSAGES, from: /return \(call \?\n[^]*?: promise\);/g, to: "return promise;" },
  withoutBlock(API_PROMISE, String.raw`if \(span && !this\.parsedPromise\)`),
  {
    file: API_PROMISE,
    from: /^( +)if \(!call\) \{\n +(return .*\n)\1\}\n[^]*?\n\1return data;\n/gm,
    to:
      'return this.parseResponse(__classPrivateFieldGet(this, _APIPromise_client, "f"), props);\n',
  },
];

/** Credentials from files and environment variables. The adapter passes a key. */
const CREDENTIALS: readonly Patch[] = [
  { file: CLIENT, from: /^( +)case 'credentials':\n[^]*?(?=^\1default:\n)/gm, to: "" },
  ...withoutMembers(CLIENT, [
    "_applyCredentialBaseURL",
    "_credentialResolverOptions",
    "_credentialsFetch",
    "_makeTokenCache",
    "_resolveDefaultCredentials",
  ]),
];

/** Classes for single error codes. The adapter's `fetch` throws for every status that is an error. */
const ERROR_CLASSES: readonly Patch[] = [
  withoutLines(CLIENT, String.raw`const errorClass = .*`),
  withoutBlock(CLIENT, String.raw`if \(errorClass\)`),
  // These lines also name the class of batches.
  { file: MESSAGES, from: /^ +Messages\.\w+ = \w+;\n/gm, to: "", matches: 19 },
];

/** What the adapter does not use of Anthropic's client: it only creates messages. */
export const UNUSED_ANTHROPIC_CODE: readonly Patch[] = [
  ...withoutMembers(MESSAGES, ["parse", "stream", "countTokens"]),
  withoutLines(MESSAGES, String.raw`this\.batches = new .*`),
  withoutLines(CLIENT, String.raw`BaseAnthropic\.toFile = .*`),
  ...withoutMembers(CLIENT, ["getAPIList", "requestAPIList"]),
  ...CREDENTIALS,
  ...ERROR_CLASSES,
  ...TRACING,
];

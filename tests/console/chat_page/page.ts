/** A chat page for tests: the stock packages of a protocol, without code of its own for failures. */
import { HttpAgent } from "npm:@ag-ui/client@1.0.0";
import { useChat } from "npm:@ai-sdk/react@4.0.177";
import { createClient } from "npm:@supabase/supabase-js@2.119.1";
import {
  type ChatTransport,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "npm:ai@7.0.173";
import { createElement } from "npm:react@19.3.1";
import { createRoot } from "npm:react-dom@19.3.1/client";
import { createSwarm } from "../../../client/mod.ts";

/** What the test tells the page. */
interface Settings {
  readonly protocol: "client" | "endpoint" | "ag-ui";
  readonly apiUrl: string;
  readonly publishableKey: string;
  readonly accessToken: string;
  readonly agent: string;
  readonly chatId: string;
}

const settings: Settings = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const { agent, apiUrl, chatId, publishableKey, accessToken } = settings;
const api = `${apiUrl}/functions/v1/supaswarm-chat/${agent}`;
const headers = { apikey: publishableKey, authorization: `Bearer ${accessToken}` };
// The types of a page would clash with those of Deno in one check of all files.
const root = createRoot(Reflect.get(globalThis, "document").querySelector("#root"));

/** Shows messages, a button for each action, and the state. */
function view(
  { state, messages, send, stop }: {
    readonly state: string;
    readonly messages: unknown;
    readonly send: () => void;
    readonly stop: () => void;
  },
) {
  return createElement(
    "main",
    { "data-state": state },
    createElement("button", { id: "send", onClick: send }, "Send"),
    createElement("button", { id: "stop", onClick: stop }, "Stop"),
    createElement("pre", { id: "messages" }, JSON.stringify(messages)),
  );
}

interface Opened {
  readonly transport: ChatTransport<UIMessage>;
  readonly initial: UIMessage[];
}

async function openClient(): Promise<Opened> {
  const supabase = createClient(apiUrl, publishableKey, {
    accessToken: () => Promise.resolve(accessToken),
  });
  const transport = createSwarm(supabase).chat(agent);
  return { transport, initial: await transport.messages(chatId) };
}

async function openEndpoint(): Promise<Opened> {
  const stored = await fetch(`${api}/${chatId}/messages`, { headers });
  const { messages: initial } = await stored.json();
  return { transport: new DefaultChatTransport({ api, headers }), initial };
}

function ChatPage({ transport, initial }: Opened) {
  const { messages, status, sendMessage, stop, resumeStream } = useChat({
    id: chatId,
    messages: initial,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    // The endpoint's stream is one connection; the client reads on by itself.
    onFinish: ({ isDisconnect, finishReason, isAbort }) => {
      const isWhole = finishReason !== undefined || isAbort;
      if (isDisconnect || !isWhole) setTimeout(() => void resumeStream(), 500);
    },
    onError: () => void setTimeout(() => void resumeStream(), 500),
  });
  return view({
    state: status,
    messages,
    send: () => void sendMessage({ text: "Hello" }),
    stop: () => void stop(),
  });
}

function openAgUi(): void {
  const run = new HttpAgent({ url: `${api}/ag-ui`, headers, threadId: chatId });
  const key = `messages-${chatId}`;
  let state = "ready";
  const show = () =>
    root.render(view({ state, messages: run.messages, send, stop: () => run.abortRun() }));
  const read = async (): Promise<void> => {
    state = "streaming";
    show();
    try {
      const kept = structuredClone(run.messages.filter(({ role }) => role === "user"));
      run.setMessages(kept);
      await run.runAgent();
      state = "ready";
      show();
    } catch {
      setTimeout(() => void read(), 500);
    }
  };
  const send = () => {
    run.addMessage({ id: crypto.randomUUID(), role: "user", content: "Hello" });
    localStorage.setItem(key, JSON.stringify(run.messages));
    void read();
  };
  run.subscribe({ onMessagesChanged: show });
  run.setMessages(JSON.parse(localStorage.getItem(key) ?? "[]"));
  if (run.messages.length > 0) void read();
  else show();
}

if (settings.protocol === "ag-ui") openAgUi();
else {
  const opened = settings.protocol === "client" ? await openClient() : await openEndpoint();
  root.render(createElement(ChatPage, opened));
}

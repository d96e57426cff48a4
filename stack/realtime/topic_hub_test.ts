import { deepEqual, equal } from "node:assert/strict";
import { type Subscriber, TopicHub } from "./topic_hub.ts";

interface Listener extends Subscriber {
  readonly received: string[];
}

function listener(options: Partial<Subscriber> = {}): Listener {
  const received: string[] = [];
  return {
    version: "2.0.0",
    joinedAtMs: 0,
    receives: () => true,
    send: (data) => received.push(JSON.parse(String(data))[4].payload.n),
    received,
    ...options,
  };
}

const PUBLIC = { topic: "t", isPrivate: false };
const PRIVATE = { topic: "t", isPrivate: true };
const message = (n: number) => ({ event: "e", payload: { n } });

Deno.test("private and public streams of one topic are separate", () => {
  const hub = new TopicHub();
  const [inside, outside] = [listener(), listener()];
  hub.join(PRIVATE, inside);
  hub.join(PUBLIC, outside);

  hub.broadcast(PRIVATE, message(1));
  hub.broadcast(PUBLIC, message(2));

  deepEqual([inside.received, outside.received], [[1], [2]]);
});

Deno.test("a broadcast excludes its sender, channels that receive none, and channels that joined later", () => {
  const hub = new TopicHub();
  const [sender, late, silent, other] = [
    listener(),
    listener({ joinedAtMs: 2_000 }),
    listener({ receives: () => false }),
    listener({ joinedAtMs: 500 }),
  ];
  for (const each of [sender, late, silent, other]) hub.join(PUBLIC, each);

  hub.broadcast(PUBLIC, message(1), { sender, sentAtMs: 1_000 });

  deepEqual([sender, late, silent, other].map(({ received }) => received.length), [0, 0, 0, 1]);
});

Deno.test("a topic is removed when its last subscriber leaves", () => {
  const hub = new TopicHub();
  const only = listener();
  hub.join(PUBLIC, only);
  equal(hub.has(PUBLIC), true);

  hub.leave(PUBLIC, only);

  deepEqual([hub.has(PUBLIC), hub.size], [false, 0]);
});

Deno.test("a subscriber that has left cannot be tracked", () => {
  const hub = new TopicHub();
  const [gone, other] = [listener({ send: () => {} }), listener({ send: () => {} })];
  hub.join(PUBLIC, gone);
  hub.join(PUBLIC, other);
  hub.leave(PUBLIC, gone);

  hub.track(PUBLIC, gone, "key", {});

  deepEqual(hub.presenceOf(PUBLIC), {});
});

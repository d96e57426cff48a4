import assert from "node:assert/strict";
import { FrameSplitter, type Notification, type TransactionStatus } from "./wire_frames.ts";

const encoder = new TextEncoder();

function frame(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + body.length);
  bytes[0] = type.charCodeAt(0);
  new DataView(bytes.buffer).setInt32(1, 4 + body.length);
  bytes.set(body, 5);
  return bytes;
}

function notificationFrame(channel: string, payload: string): Uint8Array {
  return frame("A", encoder.encode(`\0\0\0\x07${channel}\0${payload}\0`));
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Two answers, with notifications before, between and after the client's frames. */
const dataRow = frame("D", encoder.encode("A row that has an A and a Z in it"));
const complete = frame("C", encoder.encode("SELECT 1\0"));
const emptyAnswer = frame("I", new Uint8Array(0));
const ready = (status: string) => frame("Z", encoder.encode(status));
const clientBytes = join(dataRow, complete, ready("T"), emptyAnswer, ready("I"));
const serverBytes = join(
  notificationFrame("first", ""),
  dataRow,
  complete,
  notificationFrame("jobs", 'häuser; "quoted"'),
  notificationFrame("jobs", "2"),
  ready("T"),
  emptyAnswer,
  ready("I"),
  notificationFrame("last", "x".repeat(40)),
);

function split(chunks: readonly Uint8Array[]) {
  const notifications: Notification[] = [];
  const statuses: TransactionStatus[] = [];
  const splitter = new FrameSplitter({
    onNotification: (notification) => notifications.push(notification),
    onReady: (status) => statuses.push(status),
  });
  const forwarded = join(...chunks.flatMap((chunk) => splitter.push(chunk)));
  return { notifications, statuses, forwarded };
}

const expected = {
  notifications: [
    { channel: "first", payload: "" },
    { channel: "jobs", payload: 'häuser; "quoted"' },
    { channel: "jobs", payload: "2" },
    { channel: "last", payload: "x".repeat(40) },
  ],
  statuses: ["transaction", "idle"],
  forwarded: clientBytes,
};

Deno.test("FrameSplitter removes notifications from a stream and passes on the rest", () => {
  assert.deepEqual(split([serverBytes]), expected);
});

Deno.test("FrameSplitter gives the same result however the stream is split into three chunks", () => {
  for (let first = 0; first < serverBytes.length; first++) {
    for (let second = first; second < serverBytes.length; second += 3) {
      const chunks = [
        serverBytes.subarray(0, first),
        serverBytes.subarray(first, second),
        serverBytes.subarray(second),
      ];
      assert.deepEqual(split(chunks), expected, `cut at ${first} and ${second}`);
    }
  }
});

Deno.test("FrameSplitter gives the same result byte by byte", () => {
  assert.deepEqual(split([...serverBytes].map((byte) => Uint8Array.of(byte))), expected);
});

Deno.test("FrameSplitter passes on a chunk without notifications unchanged", () => {
  const splitter = new FrameSplitter({ onNotification: () => {}, onReady: () => {} });

  assert.deepEqual(splitter.push(clientBytes), [clientBytes]);
});

Deno.test("FrameSplitter is not affected when the memory of a chunk is reused", () => {
  const notifications: Notification[] = [];
  const splitter = new FrameSplitter({
    onNotification: (notification) => notifications.push(notification),
    onReady: () => {},
  });
  const heap = notificationFrame("jobs", "payload");
  const head = heap.subarray(0, 12);

  splitter.push(head);
  const tail = heap.slice(12);
  head.fill(0);
  splitter.push(tail);

  assert.deepEqual(notifications, [{ channel: "jobs", payload: "payload" }]);
});

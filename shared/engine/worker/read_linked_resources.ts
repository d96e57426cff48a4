import { z } from "../../vendor/zod.js";
import type { ToolCall } from "../agent/planned_call.ts";
import {
  type ContentBlock,
  type ResourceLink,
  textBlock,
} from "../../platform/values/content_block.ts";
import { contentText } from "../../platform/values/content_text.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { callerOf, type TaskRun } from "./task_run.ts";

/** Maximum number of links that are read per result. Search results may link to hundreds. */
const MAX_READ_LINKS = 5;
/** Larger resources could not be stored. */
const MAX_LINKED_BYTES = 5 * 1024 * 1024;
/** Time limit for all links of a result together. The tool itself has already answered. */
const TIMEOUT_MS = 20_000;

const readResult = z.object({
  contents: z.array(z.object({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  })),
});

/**
 * Replaces the resource links in a tool's result with the resources from its server, because agents
 * cannot read them otherwise. A link that cannot be read stays, with the reason.
 */
export async function readLinkedResources(
  content: readonly ContentBlock[],
  call: ToolCall,
  run: TaskRun,
): Promise<readonly ContentBlock[]> {
  const links = content.filter(isLink).slice(0, MAX_READ_LINKS);
  if (links.length === 0) return content;
  const signal = AbortSignal.any([run.control.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const blocks: ContentBlock[] = [];
  for (const block of content) {
    const isRead = isLink(block) && links.includes(block);
    blocks.push(...isRead ? await readLink(block, call, run, signal) : [block]);
  }
  return blocks;
}

function isLink(block: ContentBlock): block is ResourceLink {
  return block.type === "resource_link";
}

async function readLink(
  link: ResourceLink,
  { tool }: ToolCall,
  run: TaskRun,
  signal: AbortSignal,
): Promise<readonly ContentBlock[]> {
  if ((link.size ?? 0) > MAX_LINKED_BYTES) return [unread(link, "it is too large")];
  try {
    const answer = await run.ports.gateway.relay({
      server: tool.server,
      caller: callerOf(run.context),
      method: "resources/read",
      params: { uri: link.uri },
    }, signal);
    const { contents } = readResult.parse(answer);
    return contents.map(({ uri, ...content }) => (
      { type: "resource", resource: { uri, ...definedOnly(content) } }
    ));
  } catch (error) {
    run.control.signal.throwIfAborted();
    return [
      unread(
        link,
        error instanceof SwarmError ? error.code : "its server returned no readable answer",
      ),
    ];
  }
}

function unread(link: ResourceLink, reason: string): ContentBlock {
  return textBlock(`${contentText([link])} (not read: ${reason})`);
}

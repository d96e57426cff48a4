/** The client of the platform: what users import as `supaswarm/client`. */
export type { Authorization, ConnectOptions } from "./accounts.ts";
export type { ChatOptions, ReconnectRequest } from "./chat.ts";
export type { ChatRequest } from "./chat_answer.ts";
export type { HistoryMessage } from "./chat_history.ts";
export type { ChatMessage, MessageInput } from "./chat_message.ts";
export type { ChatMetadata, ChatPart, ReviewNote, SubtaskState } from "./chat_part.ts";
export {
  type AgentChanges,
  type AgentOf,
  type AnyAgents,
  type Budget,
  createSwarm,
  type Grade,
  type InputOf,
  type OutputOf,
  type RunOptions,
  type StoredGrade,
  Swarm,
  type SwarmTypes,
  type ToolsOf,
} from "./create_swarm.ts";
export type { SearchAnswer, SearchOptions } from "./documents.ts";
export type { InstalledNames } from "./installed_names.ts";
export {
  type ForkOptions,
  Job,
  type JobUpdate,
  type ReadOptions,
  type SignalOptions,
  type UpdateOptions,
} from "./job.ts";
export type {
  JobEvent,
  JobEventData,
  JobEventType,
  JobStatus,
  ReviewKind,
  TaskError,
  TaskWarning,
} from "./job_event.ts";
export type { TextPart } from "./job_text.ts";
export { type JobState, JobView, type ViewOptions } from "./job_view.ts";
export type { JobListener, JobMessage } from "./job_channels.ts";
export type { JobCounts, JobFilters, JobListOptions, JobSummary } from "./jobs.ts";
export type { Json, JsonObject } from "./json.ts";
export { readableJson } from "./json_text.ts";
export type { PausedTask, PausedWork, PauseKind, PauseOptions, Pauses } from "./pauses.ts";
export type { OpenReview, ReviewAnswer, ReviewedTask } from "./reviews.ts";
export { type ReviewsState, ReviewsView } from "./reviews_view.ts";
export type { FunctionBodies, PlatformSchema, PlatformTools } from "./platform_contract.ts";
export type { RequestOptions, SupabaseLike } from "./supabase.ts";
export { SwarmChat } from "./lazy_chat.ts";
export { SwarmClientError } from "./swarm_client_error.ts";
export type {
  DescribedServer,
  DescribedTool,
  JsonSchema,
  ListedTool,
  ListingError,
  ModelOptions,
  QuarantinedTool,
  ToolServer,
} from "./tool_servers.ts";
export type {
  AnyTools,
  ArgumentsOf,
  DescribeOptions,
  DraftTools,
  ResultOf,
  ToolCallOptions,
  ToolDraft,
  ToolName,
  ToolResult,
  ToolText,
} from "./tools.ts";

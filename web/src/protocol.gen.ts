// Flybridge's native protocol, version 1.
// Written by tools/schema.py from the Python structs; edit those, then make docs.

export const PROTO = 1;

export type ClientMessage =
  | Auth
  | LoginAuth
  | Hello
  | Submit
  | Attach
  | Detach
  | Ask;

export type GatewayMessage =
  | Welcome
  | EventLine
  | PreviewLine
  | GaugeLine
  | ViewLine
  | ReplyLine
  | DetachedLine
  | ErrorLine;

export type Command =
  | SendInputCommand
  | EditQueuedCommand
  | CancelQueuedCommand
  | AnswerPermissionCommand
  | AnswerQuestionCommand
  | InterruptCommand
  | SetModelCommand
  | SetModeCommand
  | SetEffortCommand
  | SetFastCommand
  | SetThinkingCommand
  | StopTaskCommand
  | McpCommand
  | RenameCommand
  | ArchiveCommand
  | DeleteCommand
  | CloseCommand;

export type SessionEvent =
  | SessionOpenedEvent
  | SessionChangedEvent
  | SessionClosedEvent
  | AgentStartedEvent
  | AgentConnectedEvent
  | AgentAcceptsInputEvent
  | AgentReadyEvent
  | AgentExitedEvent
  | HistoryEvent
  | ConversationLostEvent
  | InputAcceptedEvent
  | InputDispatchedEvent
  | InputWrittenEvent
  | InputConsumedEvent
  | InputOutcomeEvent
  | InputRefusedEvent
  | QueueChangedEvent
  | TurnStartedEvent
  | TurnEndedEvent
  | ItemStartedEvent
  | TextDoneEvent
  | ThinkingDoneEvent
  | ToolStartedEvent
  | ToolResultEvent
  | DiffEvent
  | PlanEvent
  | TasksEvent
  | PermissionRequestedEvent
  | PermissionClosedEvent
  | PermissionAutoEvent
  | QuestionRequestedEvent
  | QuestionClosedEvent
  | ContextCompactedEvent
  | BackgroundChangedEvent
  | ModeChangedEvent
  | ModelChangedEvent
  | RetryEvent
  | RateLimitEvent
  | NoticeEvent
  | FailureEvent
  | GapEvent
  | UnrecognisedEvent
  | AlarmRaisedEvent;

export type Content =
  | TextContent
  | ImageContent
  | DocumentContent;

/** The first message to a WebSocket, from a client that came without a cookie. */
export interface Auth {
  type: "auth";
  token: string;
}

/** The first message to a WebSocket, from a browser that sent its cookie with the upgrade. */
export interface LoginAuth {
  type: "auth";
  /** the other half of its login */
  key: string;
}

/** The first line of a client. */
export interface Hello {
  type: "hello";
  proto: number;
  client?: string;
}

export interface Submit {
  type: "submit";
  ref: string;
  session: string;
  request: string;
  command: Command;
  /** Default: "written". */
  until?: string;
  /** Default: 2000. */
  wait_ms?: number;
}

export interface Attach {
  type: "attach";
  ref: string;
  session: string;
  epoch?: number;
  after?: number;
  last?: number;
  /** Default: true. */
  previews?: boolean;
}

export interface Detach {
  type: "detach";
  session: string;
}

export interface Ask {
  type: "ask";
  ref: string;
  name: string;
  params?: unknown;
}

/** The answer to hello: who the gateway is, and who it takes the client for. */
export interface Welcome {
  type: "welcome";
  proto: number;
  version: string;
  generation: number;
  principal: string;
  scopes?: string[];
  /** how a TCP connection was judged: person, forwarded, agent or remote */
  peer?: string;
  /** why this connection has less than its login, if it has */
  reason?: string;
}

export interface EventLine {
  type: "event";
  session: string;
  epoch: number;
  seq: number;
  at_ms: number;
  event: SessionEvent;
}

export interface PreviewLine {
  type: "preview";
  session: string;
  item: string;
  since: number;
  upto: number;
  text: string;
}

export interface GaugeLine {
  type: "gauge";
  session: string;
  name: string;
  value: unknown;
}

export interface ViewLine {
  type: "view";
  session: string;
  seq: number;
  state: SessionView;
}

/** The one answer to a submit, attach or ask. `error` is empty or a stable code. */
export interface ReplyLine {
  type: "reply";
  ref: string;
  stage?: string;
  value?: unknown;
  error?: string;
  message?: string;
  duplicate?: boolean;
}

/** The gateway ended an attachment; nothing more of that session comes. */
export interface DetachedLine {
  type: "detached";
  session: string;
  code?: string;
}

/** A line that could not be answered by its ref. */
export interface ErrorLine {
  type: "error";
  code: string;
  message?: string;
}

/**
 * Say something to the agent.
 *
 * `auto` hands it over as soon as the agent takes input, `steer` does so only while a
 * turn runs, `queue` holds it until the running turn is over. `secret`: it is written down
 * nowhere, and what the agent repeats of it is hidden; it must be able to leave at once.
 */
export interface SendInputCommand {
  type: "send_input";
  content: Content[];
  /** Default: "auto". */
  mode?: "auto" | "queue" | "steer";
  /** not after this time on the gateway's clock; 0: whenever it can be */
  deadline_ms?: number;
  secret?: boolean;
}

export interface TextContent {
  type: "text";
  text: string;
}

/** A picture, as base64 in `data` or by its digest in the blob store. */
export interface ImageContent {
  type: "image";
  media_type: string;
  data?: string;
  blob?: string;
}

export interface DocumentContent {
  type: "document";
  media_type: string;
  data?: string;
  blob?: string;
  title?: string;
}

export interface EditQueuedCommand {
  type: "edit_queued";
  key: string;
  content: Content[];
}

export interface CancelQueuedCommand {
  type: "cancel_queued";
  key: string;
}

/**
 * Decide an open permission prompt.
 *
 * `digest` is the prompt's own, as it was shown: an answer cannot land on another input.
 * `updated_input` changes what the tool gets; `remember` names offers that belong to this
 * decision, by index, and `place` where they are to hold: beyond this session they need the
 * right to administer.
 */
export interface AnswerPermissionCommand {
  type: "answer_permission";
  prompt: string;
  digest: string;
  decision: "allow" | "deny";
  message?: string;
  /** deny and end the turn */
  stop?: boolean;
  updated_input?: unknown;
  remember?: number[];
  /** Default: "session". */
  place?: "local" | "project" | "session" | "user";
}

export interface AnswerQuestionCommand {
  type: "answer_question";
  prompt: string;
  digest: string;
  answers?: Record<string, string[]>;
  declined?: boolean;
}

/** Stop a turn: the named one, or the one that runs now. `hard` ends the process. */
export interface InterruptCommand {
  type: "interrupt";
  turn?: string;
  hard?: boolean;
}

export interface SetModelCommand {
  type: "set_model";
  model: string;
}

export interface SetModeCommand {
  type: "set_mode";
  mode: string;
}

export interface SetEffortCommand {
  type: "set_effort";
  effort: string;
}

/** Quicker answers for more money, where the agent has that. */
export interface SetFastCommand {
  type: "set_fast";
  on: boolean;
}

export interface SetThinkingCommand {
  type: "set_thinking";
  tokens: number;
}

export interface StopTaskCommand {
  type: "stop_task";
  task: string;
}

export interface McpCommand {
  type: "mcp";
  server: string;
  action: "disable" | "enable" | "login" | "reconnect";
}

export interface RenameCommand {
  type: "rename";
  title: string;
}

export interface ArchiveCommand {
  type: "archive";
  /** Default: true. */
  archived?: boolean;
}

/** End the agent, then forget the session: journal, blobs and all. */
export interface DeleteCommand {
  type: "delete";
}

/** End the agent and take no more input. The log stays, and says the `reason`. */
export interface CloseCommand {
  type: "close";
  reason?: string;
}

export interface SessionOpenedEvent {
  type: "session.opened";
  agent: string;
  cwd: string;
  title?: string;
  labels?: Record<string, string>;
  model?: string;
  mode?: string;
  /** the principal */
  opener?: string;
  /** the agent's own id of a conversation gone on with here */
  resumed?: string;
  /** in a copy of it */
  forked?: boolean;
  /** gone on with whatever was last talked about in cwd */
  continued?: boolean;
  /** gone on with the conversation of a pull request */
  from_pr?: string;
  effort?: string;
  /** 0: no limit */
  budget_usd?: number;
  /** Default: "stdio". */
  transport?: "by_hand" | "socket" | "stdio";
  /** the agent's own, by name */
  agent_options?: Record<string, boolean | number | number | string | string[]>;
  /** the same as 0.1 wrote it; goes away after one release */
  options?: Options;
  /** of the agent; "": written before kinds were recorded */
  kind?: string;
  /** of the agent's program, if it was known */
  version?: string;
}

/**
 * Hold Claude's options as 0.1 wrote and read them; kept for one release.
 *
 * Everything inside uses `StartOptions`, which this form is converted to.
 */
export interface Options {
  effort?: string;
  /** quicker answers for more money */
  fast?: boolean;
  fallback_model?: string;
  /** 0: no limit, here and below */
  max_turns?: number;
  max_budget_usd?: number;
  max_thinking_tokens?: number;
  /** rules: these run without being asked about */
  allowed_tools?: string[];
  disallowed_tools?: string[];
  /** None: the agent's own choice; (): none at all */
  tools?: string[] | null;
  /** nobody is asked about anything */
  skip_permissions?: boolean;
  /** that may be switched on later */
  allow_bypass?: boolean;
  system_prompt?: string;
  append_system_prompt?: string;
  add_dirs?: string[];
  /** files, or JSON */
  mcp_config?: string[];
  /** no servers but those */
  strict_mcp_config?: boolean;
  plugin_dirs?: string[];
  /** a file, or JSON */
  settings?: string;
  setting_sources?: string[];
  /** a JSON object */
  agents?: string;
  main_agent?: string;
  json_schema?: string;
  betas?: string[];
  /** the agent keeps no record: nothing to resume */
  no_persistence?: boolean;
  disable_slash_commands?: boolean;
  /** Default: "stdio". */
  transport?: "by_hand" | "socket" | "stdio";
}

export interface SessionChangedEvent {
  type: "session.changed";
  title?: string | null;
  archived?: boolean | null;
  /** this and agent_options: from the next life of the agent on */
  effort?: string | null;
  /** all of them */
  agent_options?: Record<string, boolean | number | number | string | string[]> | null;
  /** the same as 0.1 wrote it; goes away after one release */
  options?: Options | null;
}

export interface SessionClosedEvent {
  type: "session.closed";
  by?: string;
  /** and is to be forgotten */
  deleting?: boolean;
  reason?: string;
}

export interface AgentStartedEvent {
  type: "agent.started";
  incarnation: string;
  resumed?: boolean;
}

/** The keeper holds the process and its channels; from here on lines can be written. */
export interface AgentConnectedEvent {
  type: "agent.connected";
  incarnation: string;
  /** a restarted gateway found it alive */
  adopted?: boolean;
  /** False: messages wait for `agent.accepts_input` Default: true. */
  accepts_input?: boolean;
}

/** An agent that had to get ready after it was connected takes messages now. */
export interface AgentAcceptsInputEvent {
  type: "agent.accepts_input";
  incarnation: string;
}

/**
 * Describe the agent, in its own words; comes again whenever it describes itself anew.
 *
 * Whether it takes messages is said by `agent.accepts_input`.
 */
export interface AgentReadyEvent {
  type: "agent.ready";
  agent_session?: string;
  model?: string;
  mode?: string;
  version?: string;
  /** what may follow a slash → local, prompt or ui */
  commands?: Record<string, string>;
  detail?: unknown;
}

export interface AgentExitedEvent {
  type: "agent.exited";
  incarnation: string;
  why: "exit" | "keeper_died" | "not_started" | "reboot" | "socket";
  status?: number;
  stderr_tail?: string;
  /** we told it to end */
  asked?: boolean;
}

/** What stands between two of these was said before the session, and does not count in it. */
export interface HistoryEvent {
  type: "history";
  phase: "done" | "started";
  /** the agent's own id */
  conversation?: string;
  /** the file it was read from */
  source?: string;
  /** told here */
  turns?: number;
  /** older turns that are not */
  left_out?: number;
}

/** The agent has no record of the conversation it was to resume; the next life starts anew. */
export interface ConversationLostEvent {
  type: "conversation.lost";
  reason?: string;
}

export interface InputAcceptedEvent {
  type: "input.accepted";
  key: string;
  kind: "answer" | "interrupt" | "message" | "session" | "setting";
  by: string;
  fingerprint: string;
  content?: Content[];
  mode?: string;
  deadline_ms?: number;
  /** Default: 1. */
  attempt?: number;
  /** for an answer: what was decided */
  choice?: string;
  /** for an interrupt: the turn that it names */
  turn?: string;
}

/** Committed before the first byte leaves: from here on the agent may have it. */
export interface InputDispatchedEvent {
  type: "input.dispatched";
  key: string;
  incarnation: string;
}

/** The kernel took every byte. */
export interface InputWrittenEvent {
  type: "input.written";
  key: string;
}

/** The agent showed that it has it. */
export interface InputConsumedEvent {
  type: "input.consumed";
  key: string;
  turn?: string;
}

export interface InputOutcomeEvent {
  type: "input.outcome";
  key: string;
  outcome: "cancelled" | "done" | "expired" | "lost" | "not_delivered" | "observed" | "refused" | "unknown";
  reason?: string;
}

/** The agent, not the gateway, refused it. */
export interface InputRefusedEvent {
  type: "input.refused";
  key: string;
  reason?: string;
}

/** A held input was edited. */
export interface QueueChangedEvent {
  type: "queue.changed";
  key: string;
  content: Content[];
}

export interface TurnStartedEvent {
  type: "turn.started";
  turn: string;
}

export interface TurnEndedEvent {
  type: "turn.ended";
  turn: string;
  /** Default: "done". */
  reason?: "agent_exited" | "done" | "error" | "interrupted" | "limit";
  message?: string;
  /** of this turn */
  cost_usd?: number;
  usage?: unknown;
  /** the last value of each */
  gauges?: Record<string, unknown>;
  detail?: unknown;
}

export interface ItemStartedEvent {
  type: "item.started";
  item: string;
  kind: "text" | "thinking" | "tool";
  turn?: string;
  parent?: string;
  /** of a tool; of a text: "command" if a slash command printed it */
  name?: string;
}

export interface TextDoneEvent {
  type: "text.done";
  item: string;
  text?: string;
  /** Default: "complete". */
  status?: "complete" | "discarded" | "partial";
  parent?: string;
  /** the whole text, when it is too long for a row */
  blob?: string;
}

export interface ThinkingDoneEvent {
  type: "thinking.done";
  item: string;
  text?: string;
  /** Default: "complete". */
  status?: "complete" | "discarded" | "partial";
  parent?: string;
  redacted?: boolean;
  blob?: string;
}

/** The call is complete and may run; its item id is the agent's tool-use id. */
export interface ToolStartedEvent {
  type: "tool.started";
  item: string;
  name: string;
  input?: unknown;
  parent?: string;
  /** the whole input, when it is too long for a row */
  blob?: string;
  /** "": written before calls had a kind (session/old_tools.py) */
  kind?: "agent" | "edit" | "execute" | "fetch" | "mcp" | "other" | "plan" | "read" | "search" | "task" | "think" | "";
  subject?: ToolSubject;
}

/**
 * What a call is about, in few words: each field may be empty, and each has a limit.
 *
 * A text that was cut ends with a space and an ellipsis. `paths` names every file, or none
 * when they are too many or too long: a part of them could pass for the whole.
 */
export interface ToolSubject {
  /** in words: a description, a pattern, a query */
  title?: string;
  /** that it runs */
  command?: string;
  /** of the files it reads or changes, or where it searches */
  paths?: string[];
  /** the change it asks for: lines that begin with "+", "-", " " or "@@" */
  diff?: string;
  /** that it fetches */
  url?: string;
}

export interface ToolResultEvent {
  type: "tool.result";
  item: string;
  /** Default: "ok". */
  status?: "denied" | "discarded" | "error" | "ok" | "partial";
  text?: string;
  parent?: string;
  detail?: unknown;
  blob?: string;
}

export interface DiffEvent {
  type: "diff";
  item: string;
  path: string;
  /** the agent's own form; to be read from `hunks`, where they are */
  patch: unknown;
  /** all of the patch, when it is too long for a row */
  blob?: string;
  hunks?: DiffHunk[];
}

/** A part of a file that was changed. A new file has no old lines, a deleted one no new ones. */
export interface DiffHunk {
  old_start?: number;
  old_lines?: number;
  new_start?: number;
  new_lines?: number;
  /** begin with " ", "-" or "+"; with "\\" a remark on the hunk */
  lines?: string[];
}

export interface PlanEvent {
  type: "plan";
  text: string;
  parent?: string;
  /** the whole plan, when it is too long for a row */
  blob?: string;
}

export interface TasksEvent {
  type: "tasks";
  /** the agent's own list; to be read from `items`, where they are */
  tasks: unknown;
  items?: AgentTask[];
}

/** One entry of the agent's list of tasks. */
export interface AgentTask {
  /** "": the entries have no names of their own */
  id?: string;
  text?: string;
  /** pending, in_progress, completed, or a word of the agent's own Default: "pending". */
  status?: string;
  /** what to show instead of the text while it is in progress */
  active_text?: string;
  /** the sub-agent it belongs to */
  owner?: string;
  /** ids of the tasks that wait for this one */
  blocks?: string[];
  blocked_by?: string[];
}

export interface PermissionRequestedEvent {
  type: "permission.requested";
  prompt: string;
  tool: string;
  input: unknown;
  /** sha256 of the whole input: what an answer is bound to */
  digest: string;
  item?: string;
  parent?: string;
  reason?: string;
  /** deprecated: the agent's own form of `offers`, by index */
  suggestions?: unknown[];
  /** what can be accepted along with it, by index */
  offers?: Offer[];
  /** Default: true. */
  can_edit?: boolean;
  /** the kind of sub-agent that asks; "": the main agent */
  agent?: string;
  detail?: unknown;
  /** of the call, as in tool.started */
  kind?: "agent" | "edit" | "execute" | "fetch" | "mcp" | "other" | "plan" | "read" | "search" | "task" | "think" | "";
  subject?: ToolSubject;
}

/**
 * One offer of a permission prompt, as it takes effect when `place` is the session.
 *
 * `decision`: the answer that it belongs to; it can be accepted with no other.
 * `durable`: it holds after this agent process has ended.
 * `widens`: it changes how the agent decides what to ask about (a permission mode, a sandbox),
 * or it removes rules that deny or ask. Adding rules about tools, commands or folders, and
 * removing those that allow, does not widen.
 * `mode`: the permission mode that it sets, if it sets one.
 * `label`: what accepting it does, in words, for example "Always allow". A front end shows the
 * label together with `rules` and `folders`; these three tell everything that is kept. An
 * offer without a label cannot be described, and front ends do not let people choose it.
 */
export interface Offer {
  /** the agent's own id of it, or its index */
  id?: string;
  label?: string;
  /** Default: "user". */
  scope?: "once" | "project" | "session" | "user";
  /** Default: true. */
  widens?: boolean;
  /** Default: true. */
  durable?: boolean;
  mode?: string;
  /** it only adds permissions: `rules` and `folders` are allowed from now */
  allows?: boolean;
  rules?: OfferRule[];
  folders?: string[];
  /** Default: "allow". */
  decision?: "allow" | "deny";
  /** the answer may choose a place other than the session */
  placed?: boolean;
  /** the place that the agent suggests Default: "session". */
  place?: "local" | "project" | "session" | "user";
}

/** A rule about one tool. */
export interface OfferRule {
  tool: string;
  /** what the tool may be asked to do; None: anything */
  pattern?: string | null;
  /** of the tool; "": the driver does not know */
  kind?: "agent" | "edit" | "execute" | "fetch" | "mcp" | "other" | "plan" | "read" | "search" | "task" | "think" | "";
}

export interface PermissionClosedEvent {
  type: "permission.closed";
  prompt: string;
  how: "allowed" | "cancelled" | "denied" | "expired" | "orphaned";
  by?: string;
  message?: string;
  edited?: boolean;
  /** deprecated: the agent's own form of `offers` */
  rules?: unknown[];
  /** accepted: they hold from here on */
  offers?: Offer[];
  /** and where */
  place?: string;
  /** what was allowed instead of what was asked, if it was edited */
  input?: unknown;
  /** all of that, when it is too long for a row */
  blob?: string;
}

/** A stored rule or the agent itself decided without a person. */
export interface PermissionAutoEvent {
  type: "permission.auto";
  tool: string;
  decision: "allow" | "deny";
  rule?: string;
  item?: string;
}

export interface QuestionRequestedEvent {
  type: "question.requested";
  prompt: string;
  questions: unknown;
  /** sha256 of the whole questions: what an answer is bound to */
  digest: string;
  item?: string;
  parent?: string;
  /** the kind of sub-agent that asks; "": the main agent */
  agent?: string;
  /** the same, typed; nothing: only `questions` has them */
  asked?: PromptQuestion[];
}

/** One question of a prompt. Other words than the suggested answers may be given, too. */
export interface PromptQuestion {
  text: string;
  /** what its answer is filed under; "": the text itself */
  id?: string;
  header?: string;
  options?: QuestionOption[];
  /** several of the options may be chosen */
  multi?: boolean;
}

/** A suggested answer. `label` is what an answer says. */
export interface QuestionOption {
  label: string;
  description?: string;
}

export interface QuestionClosedEvent {
  type: "question.closed";
  prompt: string;
  how: "answered" | "cancelled" | "declined" | "expired" | "orphaned";
  by?: string;
  answers?: Record<string, string[]>;
}

export interface ContextCompactedEvent {
  type: "context.compacted";
  /** Default: "done". */
  phase?: "done" | "failed" | "started";
  detail?: unknown;
}

/** What runs beside the conversation, and would end with the agent: all of it, each time. */
export interface BackgroundChangedEvent {
  type: "background.changed";
  tasks?: unknown[];
  /** the same, typed */
  running?: BackgroundTask[];
}

/** A command or a sub-agent that runs beside the conversation. */
export interface BackgroundTask {
  /** what the command stop_task names */
  id: string;
  /** execute, agent, or a word of the agent's own */
  kind?: string;
  title?: string;
  /** Default: "running". */
  status?: string;
}

export interface ModeChangedEvent {
  type: "mode.changed";
  mode: string;
}

export interface ModelChangedEvent {
  type: "model.changed";
  model: string;
}

export interface RetryEvent {
  type: "retry";
  attempt: number;
  at_ms?: number;
  reason?: string;
}

export interface RateLimitEvent {
  type: "rate_limit";
  status: string;
  resets_ms?: number;
  detail?: unknown;
  /** the one it is about first */
  limits?: UsageLimit[];
}

/** One limit, in terms that hold for every agent. */
export interface UsageLimit {
  /** the time or the thing that is counted: five_hour, seven_day, requests */
  scope?: string;
  /** Default: "unknown". */
  status?: "ok" | "reached" | "unknown" | "warning";
  /** 0.0 to 1.0, and more where it can be exceeded */
  used?: number | null;
  resets_ms?: number;
  account?: string;
}

export interface NoticeEvent {
  type: "notice";
  text: string;
  /** Default: "info". */
  level?: "info" | "warning";
  /** what a slash command printed */
  command?: boolean;
}

export interface FailureEvent {
  type: "error";
  code: string;
  text: string;
}

/**
 * Output of the agent was lost here: the process that held it died too, or, for
 * `socket`, it was said while nobody was connected.
 */
export interface GapEvent {
  type: "gap";
  reason: string;
}

/** A message this version does not know. Kept and shown, never dropped. */
export interface UnrecognisedEvent {
  type: "unrecognised";
  source: string;
  text: string;
  parent?: string;
  blob?: string;
}

/** Something happened that no answer, command or rule of ours explains (session/alarms.py). */
export interface AlarmRaisedEvent {
  type: "alarm.raised";
  /** stable, for programs */
  code: string;
  /** what happened */
  text: string;
  /** why it matters, and what to do */
  advice?: string;
  /** what it belongs to, as far as that is known */
  prompt?: string;
  item?: string;
  turn?: string;
}

/** The state of one session, for every front end. */
export interface SessionView {
  session: string;
  agent: string;
  cwd: string;
  title: string;
  status: "closed" | "idle" | "off" | "running" | "starting";
  why: "compaction" | "model" | "nothing" | "permission" | "question" | "queue" | "rate_limit" | "retry" | "tool" | "wedged";
  /** when it began to wait for that */
  since_ms: number;
  turn: string;
  turns: number;
  /** how the last turn did; "" while one runs, and before the first */
  ended: string;
  model: string;
  mode: string;
  cost_usd: number;
  archived: boolean;
  prompts: PromptView[];
  queue: QueuedView[];
  tools: ToolView[];
  labels: Record<string, string>;
  /** goes away after one release: see effort, budget_usd and agent_options */
  options: Options;
  /** the agent's own id of the conversation */
  agent_session: string;
  /** how many things run beside the conversation */
  background: number;
  gauges: Record<string, unknown>;
  effort?: string;
  budget_usd?: number;
  /** Default: "stdio". */
  transport?: "by_hand" | "socket" | "stdio";
  agent_options?: Record<string, boolean | number | number | string | string[]>;
  /** the agent talks over "sockets" or "pipes"; "": neither, or no agent */
  agent_io?: string;
  /** of the agent; "": opened before kinds were recorded */
  kind?: string;
}

export interface PromptView {
  prompt: string;
  kind: string;
  tool: string;
  digest: string;
  since_ms: number;
  /** "": it is a question */
  tool_kind?: "agent" | "edit" | "execute" | "fetch" | "mcp" | "other" | "plan" | "read" | "search" | "task" | "think" | "";
}

export interface QueuedView {
  key: string;
  by: string;
  head: string;
}

export interface ToolView {
  item: string;
  name: string;
  since_ms: number;
}

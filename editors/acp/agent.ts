// An agent for editors that speak the Agent Client Protocol, version 1 or 2. Each conversation is a document; the
// client asks the person for decisions.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { openChat, RequestLimiter } from "../../agent/open.ts";
import { JobKeeper } from "../../agent/runtime/jobs/keeper.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Environment } from "../../base/environment.ts";
import { isMissing } from "../../base/files.ts";
import { isObject } from "../../base/is_object.ts";
import { folderOfDocument, parentOf, referenceTo } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, problemLine, thrownText } from "../../base/problem.ts";
import type { Emit } from "../../cycle/types.ts";
import { encodeLine, framesOnLines } from "../rpc/framing.ts";
import { Peer, type RpcCall, RpcCode, RpcRefusal } from "../rpc/peer.ts";
import { begin, discard, findConversation, idOf, listConversations } from "./conversations.ts";
import { type Chosen, configOptions, isChoice, modes, overridesFromChoice, serversOf } from "./options.ts";
import { promptText } from "./prompt_text.ts";
import { replay } from "./replay.ts";
import { SLASH_COMMANDS, slashCommand } from "./slash.ts";
import { PromptTurn } from "./turn.ts";
import {
  answerInitialize,
  convertCommands,
  convertOptions,
  convertUpdate,
  findServerProblem,
  type Version,
  versionFor,
} from "./version_2.ts";

export interface AgentOptions {
  readonly input: AsyncIterable<Uint8Array>;
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly environment: Environment;
  readonly version: string;
  /** Receives lines for the client's log. */
  readonly log: (line: string) => void;
  /** Shuts the agent down in order when it aborts, like the end of the input. */
  readonly signal?: AbortSignal;
}

/** Serves until the client disconnects. */
export async function serveAgent(options: AgentOptions): Promise<void> {
  await new Agent(options).run();
}

interface Conversation {
  readonly id: string;
  readonly path: string;
  readonly cwd: string;
  chosen: Chosen;
  /** MCP servers given by the client, as settings. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly spent: { cost: number | null };
  readonly jobKeeper: JobKeeper;
  turn: CurrentTurn | null;
}

/** What the background jobs of a conversation belong to. */
const OWNER = { ends: "when the client closes this conversation", stopped: "with the conversation" };

interface CurrentTurn {
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
  /** The turn, once it works on the document. */
  readonly work: { turn: PromptTurn | null };
}

type Answer = (agent: Agent, params: Readonly<Record<string, unknown>>, call: RpcCall) => unknown;

const ANSWERS: Readonly<Record<string, Answer>> = {
  "initialize": (agent, params) => agent.initialize(params),
  "authenticate": () => ({}),
  "session/new": (agent, params) => agent.begin(params),
  "session/load": (agent, params) => agent.load(params, true),
  "session/resume": (agent, params) => agent.load(params, false),
  "session/list": (agent, params) => agent.list(params),
  "session/delete": (agent, params) => agent.discard(params),
  "session/close": (agent, params) => agent.close(params),
  "session/prompt": (agent, params, call) => agent.prompt(params, call),
  "session/cancel": (agent, params) => agent.cancel(params),
  "tool_call/cancel": (agent, params) => agent.cancelCall(params),
  "session/set_config_option": (agent, { sessionId, configId, value }) =>
    agent.choose(sessionId, configId, value),
  "session/set_mode": async (agent, { sessionId, modeId }) => {
    const answer = await agent.choose(sessionId, "mode", modeId);
    return answer instanceof RpcRefusal ? answer : {};
  },
};

/** Methods that version 2 does not have. */
const ONLY_1: ReadonlySet<string> = new Set(["authenticate", "session/load", "session/set_mode"]);

class Agent {
  readonly #options: AgentOptions;
  readonly #peer: Peer;
  readonly #conversations = new Map<string, Conversation>();
  /** Limits the requests to a provider, for all conversations together. */
  readonly #limiter = new RequestLimiter();
  /** The version of the protocol; null before `initialize`. */
  #version: Version | null = null;
  #asksForms = false;
  #showsNotices = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#peer = new Peer({
      frames: framesOnLines(options.input),
      write: (text) => options.write(encodeLine(text)),
      handler: (call) => this.#handle(call),
      cancel: { method: "$/cancel_request", member: "requestId" },
      onFault: (method, thrown) => options.log(`${method}: Internal error: ${thrownText(thrown)}`),
    });
  }

  async run(): Promise<void> {
    await this.#peer.run(this.#options.signal ?? new AbortController().signal);
    const conversations = [...this.#conversations.values()];
    const turns = conversations.map(({ turn }) => turn).filter((turn) => turn !== null);
    for (const { controller } of turns) controller.abort();
    await Promise.allSettled(turns.map(({ ended }) => ended));
    await Promise.all(conversations.map((each) => this.#endJobs(each)));
    await this.#peer.quiet();
  }

  #handle(call: RpcCall): unknown {
    const { method, params } = call;
    if (!Object.hasOwn(ANSWERS, method) || (this.#version === 2 && ONLY_1.has(method))) {
      return new RpcRefusal(RpcCode.methodNotFound, `The method ${method} is unknown.`);
    }
    if (this.#version === null && method !== "initialize") {
      return new RpcRefusal(RpcCode.invalidRequest, `${method} was sent before initialize.`);
    }
    return ANSWERS[method]!(this, isObject(params) ? params : {}, call);
  }

  initialize({ protocolVersion, clientCapabilities, capabilities }: Readonly<Record<string, unknown>>) {
    const version = versionFor(protocolVersion);
    if (this.#version === 2 && version === 1) {
      return new RpcRefusal(RpcCode.invalidRequest, "This connection uses version 2 of the protocol.");
    }
    this.#version = version;
    const abilities = version === 2 ? capabilities : clientCapabilities;
    this.#asksForms = isObject(memberAt(abilities, "elicitation", "form"));
    this.#showsNotices = version === 2 || isObject(memberAt(abilities, "session", "notices"));
    if (version === 2) return answerInitialize(this.#options.version);
    return {
      protocolVersion: 1,
      agentInfo: { name: "flemma", version: this.#options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    };
  }

  async begin(params: Readonly<Record<string, unknown>>): Promise<unknown> {
    const refused = await this.#unusable(params);
    if (refused !== null) return refused;
    const { cwd, mcpServers } = params as { readonly cwd: string; readonly mcpServers: unknown };
    const made = await begin(this.#options.environment, cwd, new Date());
    if (!made.ok) return refusal(made.problem);
    return await this.#opened(made.value, cwd, mcpServers);
  }

  /** Returns why no conversation can be opened with these parameters; null if one can. */
  async #unusable(
    { cwd, mcpServers, additionalDirectories }: Readonly<Record<string, unknown>>,
  ): Promise<RpcRefusal | null> {
    const refused = (message: string) => new RpcRefusal(RpcCode.invalidParams, message);
    if (typeof cwd !== "string" || !cwd.startsWith("/")) return refused("cwd must be an absolute path.");
    if (!await isFolder(cwd)) return refused(`There is no folder ${cwd}.`);
    if (this.#version !== 2) return null;
    if (Array.isArray(additionalDirectories) && additionalDirectories.length > 0) {
      return refused("additionalDirectories cannot be used.");
    }
    const problem = findServerProblem(mcpServers);
    return problem === null ? null : refused(problem);
  }

  /** Opens an earlier conversation. In version 2, `replayFrom` decides whether its content is sent. */
  async load(params: Readonly<Record<string, unknown>>, isLoad: boolean): Promise<unknown> {
    const refused = await this.#unusable(params);
    if (refused !== null) return refused;
    const { sessionId, cwd, mcpServers, replayFrom } = params as typeof params & { readonly cwd: string };
    const from = this.#version === 2 ? memberAt(replayFrom, "type") : undefined;
    if (this.#version === 2 && replayFrom !== undefined && replayFrom !== null && from !== "start") {
      return new RpcRefusal(RpcCode.invalidParams, "replayFrom can only be the start.");
    }
    const tells = isLoad || from === "start";
    const found = await findConversation(String(sessionId), cwd);
    if (!found.ok) return refusal(found.problem);
    const known = this.#conversations.get(String(sessionId));
    if (known !== undefined && known.turn !== null) return BUSY;
    if (tells) {
      const session = await this.#openReadOnly({ path: found.value, chosen: {}, servers: {} });
      if (!session.ok) return refusal(session.problem);
      await using readOnly = session.value;
      const options = { whole: this.#version === 2 };
      for await (const update of replay(readOnly, options)) this.#update(String(sessionId), update);
    }
    const opened = await this.#opened(found.value, cwd, mcpServers);
    if (opened instanceof RpcRefusal) return opened;
    const { sessionId: _, ...answer } = opened;
    if (this.#version === 2) this.#state(String(sessionId), { state: "idle" });
    return answer;
  }

  async list({ cwd }: Readonly<Record<string, unknown>>) {
    const folders = typeof cwd === "string"
      ? [cwd]
      : [...new Set([...this.#conversations.values()].map((each) => each.cwd))];
    return { sessions: (await Promise.all(folders.map(listConversations))).flat() };
  }

  async discard({ sessionId }: Readonly<Record<string, unknown>>): Promise<unknown> {
    await this.close({ sessionId });
    const done = await discard(String(sessionId));
    return done.ok ? {} : refusal(done.problem);
  }

  async close({ sessionId }: Readonly<Record<string, unknown>>) {
    const conversation = this.#conversations.get(String(sessionId));
    conversation?.turn?.controller.abort();
    await conversation?.turn?.ended;
    if (conversation !== undefined) await this.#endJobs(conversation);
    this.#conversations.delete(String(sessionId));
    return {};
  }

  async #endJobs(conversation: Conversation): Promise<void> {
    await conversation.jobKeeper.end(() => openChat(conversation.path, this.#host(conversation)));
  }

  cancel({ sessionId }: Readonly<Record<string, unknown>>): void {
    this.#conversations.get(String(sessionId))?.turn?.controller.abort();
  }

  /** Cancels one call; the turn goes on. */
  cancelCall({ sessionId, toolCallId }: Readonly<Record<string, unknown>>): unknown {
    const conversation = this.#conversations.get(String(sessionId));
    if (conversation === undefined) return this.#unknown(sessionId);
    const isCanceled = conversation.turn?.work.turn?.cancelCall(String(toolCallId)) ?? false;
    return isCanceled ? {} : new RpcRefusal(RpcCode.invalidParams, `${String(toolCallId)} is not running.`);
  }

  async prompt(
    { sessionId, prompt }: Readonly<Record<string, unknown>>,
    { signal }: RpcCall,
  ): Promise<unknown> {
    const conversation = this.#conversations.get(String(sessionId));
    if (conversation === undefined) return this.#unknown(sessionId);
    if (conversation.turn !== null) return BUSY;
    const controller = new AbortController();
    signal.addEventListener("abort", () => controller.abort(), { once: true });
    const inserted = Promise.withResolvers<unknown>();
    const work: CurrentTurn["work"] = { turn: null };
    const ended = this.#take(conversation, prompt, {
      signal: controller.signal,
      work,
      inserted: (messageId) =>
        this.#inserted(conversation, prompt, messageId, () => inserted.resolve({ messageId })),
    });
    const turn = conversation.turn = { controller, work, ended };
    const over = ended.finally(() => {
      if (conversation.turn === turn) conversation.turn = null;
    });
    if (this.#version !== 2) return await over;
    const answer = await Promise.race([inserted.promise, over]);
    const isAnswer = answer instanceof RpcRefusal || memberAt(answer, "messageId") !== undefined;
    return isAnswer ? answer : new RpcRefusal(RpcCode.cancelled, "The prompt was canceled.");
  }

  /** Reports that a prompt is in the document: version 2 answers it then, and reports its end as a state. */
  #inserted({ id, turn }: Conversation, prompt: unknown, messageId: string, answer: () => void): void {
    if (this.#version !== 2) return;
    this.#state(id, { state: "running" });
    this.#notify(id, { sessionUpdate: "user_message", messageId, content: prompt });
    // The state is sent in the same moment, so it comes before the answer of a request that waits for the end.
    turn?.ended.then(
      (end) => this.#state(id, idle(end)),
      (thrown) => this.#state(id, broken(thrown)),
    );
    answer();
  }

  async #take(
    conversation: Conversation,
    prompt: unknown,
    { signal, work, inserted }: {
      readonly signal: AbortSignal;
      readonly work: CurrentTurn["work"];
      readonly inserted: (messageId: string) => void;
    },
  ): Promise<unknown> {
    const { id, path, spent } = conversation;
    const opened = await this.#openReadOnly(conversation);
    if (!opened.ok) return refusal(opened.problem);
    const { settings: { templating } } = opened.value;
    await opened.value[Symbol.asyncDispose]();
    const read = promptText(prompt, {
      templates: templating.enabled,
      attach: (extension) => {
        const name = `${parentOf(path)}/${crypto.randomUUID().slice(0, 8)}.${extension}`;
        return { name, reference: referenceTo(name) };
      },
    });
    if (!read.ok) return refusal(read.problem, RpcCode.invalidParams);
    const { text, attachments } = read.value;
    const outcome = await slashCommand(read.value, {
      openReadOnly: () => this.#openReadOnly(conversation),
      open: () => this.#open(conversation, () => {}, signal),
      choose: (value) => this.choose(id, "model", value),
    });
    if (outcome !== null) {
      const messageId = crypto.randomUUID();
      inserted(messageId);
      const content = { type: "text" as const, text: outcome };
      this.#update(id, { sessionUpdate: "agent_message_chunk", messageId, content });
      return { stopReason: "end_turn" };
    }
    try {
      for (const { name, bytes } of attachments) await Deno.writeFile(name, bytes, { createNew: true });
    } catch (thrown) {
      return refusal(failure("attachment", `An image cannot be saved: ${thrownText(thrown)}.`).problem);
    }
    work.turn = new PromptTurn({
      open: (emit) => this.#open(conversation, emit, signal),
      openHelper: (path) => openChat(path, { ...this.#host(conversation), signal }),
      update: (update) => this.#update(id, update),
      notice: (message) => this.#notice(id, message),
      request: (method, params) => this.#peer.request(method, params, signal),
      inserted,
      asks: (isAsking) => this.#state(id, { state: isAsking ? "requires_action" : "running" }),
      version: this.#version ?? 1,
      signal,
      sessionId: id,
      spent,
      showsNotices: this.#showsNotices,
      asksForms: this.#asksForms,
    });
    const ended = await work.turn.take(text);
    if (typeof ended !== "string") return signal.aborted ? { stopReason: "cancelled" } : refusal(ended);
    const { mtime } = await Deno.stat(path);
    this.#update(id, {
      sessionUpdate: "session_info_update",
      title: text.split("\n", 1)[0]!.slice(0, 60),
      updatedAt: (mtime ?? new Date()).toISOString(),
    });
    return { stopReason: ended };
  }

  async choose(sessionId: unknown, configId: unknown, value: unknown): Promise<unknown> {
    const conversation = this.#conversations.get(String(sessionId));
    if (conversation === undefined) return this.#unknown(sessionId);
    const before = await this.#openReadOnly(conversation);
    if (!before.ok) return refusal(before.problem);
    await using session = before.value;
    if (typeof configId !== "string" || typeof value !== "string" || !isChoice(session, configId, value)) {
      return new RpcRefusal(RpcCode.invalidParams, `${String(configId)} cannot be ${String(value)}.`);
    }
    conversation.chosen = { ...conversation.chosen, [configId]: value };
    const after = await this.#openReadOnly(conversation);
    if (!after.ok) return refusal(after.problem);
    await using now = after.value;
    const options = configOptions(now);
    this.#update(conversation.id, { sessionUpdate: "config_option_update", configOptions: options });
    if (configId === "mode") {
      this.#update(conversation.id, { sessionUpdate: "current_mode_update", currentModeId: value });
    }
    return { configOptions: this.#version === 2 ? convertOptions(options) : options };
  }

  /** Registers a conversation as open, and returns its options. */
  async #opened(
    path: string,
    cwd: string,
    mcpServers: unknown,
  ): Promise<Record<string, unknown> | RpcRefusal> {
    const id = idOf(path);
    const servers = serversOf(mcpServers);
    const conversation: Conversation = {
      id,
      path,
      cwd,
      chosen: {},
      servers,
      spent: { cost: 0 },
      jobKeeper: this.#conversations.get(id)?.jobKeeper ?? new JobKeeper(OWNER),
      turn: null,
    };
    const opened = await this.#openReadOnly(conversation);
    if (!opened.ok) return refusal(opened.problem);
    await using session = opened.value;
    for (const { message } of session.loaded.notices) this.#options.log(message);
    const left = Array.isArray(mcpServers) ? mcpServers.length - Object.keys(servers).length : 0;
    if (left > 0) this.#options.log(`${left} of the client's MCP servers cannot be used.`);
    this.#conversations.set(id, conversation);
    const options = configOptions(session);
    if (this.#version === 2) {
      return {
        sessionId: id,
        configOptions: convertOptions(options),
        availableCommands: convertCommands(SLASH_COMMANDS),
      };
    }
    // A client must know the conversation before it gets updates about it, so these follow later.
    setTimeout(() => {
      this.#update(id, { sessionUpdate: "available_commands_update", availableCommands: SLASH_COMMANDS });
    });
    return { sessionId: id, modes: modes(session), configOptions: options };
  }

  #openReadOnly(
    conversation: Pick<Conversation, "path" | "chosen" | "servers">,
  ): Promise<Outcome<ChatSession>> {
    return openChat(conversation.path, { ...this.#host(conversation), readOnly: true });
  }

  #open(conversation: Conversation, emit: Emit, signal: AbortSignal): Promise<Outcome<ChatSession>> {
    const notify = ({ message }: Problem) => this.#notice(conversation.id, message);
    const { jobKeeper } = conversation;
    return openChat(conversation.path, { ...this.#host(conversation), emit, signal, notify, jobKeeper });
  }

  #host({ path, chosen, servers }: Pick<Conversation, "path" | "chosen" | "servers">) {
    const environment = { ...this.#options.environment, cwd: folderOfDocument(path) };
    const overrides = { ...overridesFromChoice(chosen), ...(isEmpty(servers) ? {} : { mcp: { servers } }) };
    return { environment, settings: { overrides }, limiter: this.#limiter };
  }

  #update(sessionId: string, update: SessionUpdate): void {
    const sent = this.#version === 2 ? convertUpdate(update) : withoutMessageId(update);
    if (sent !== null) this.#notify(sessionId, sent);
  }

  #notify(sessionId: string, update: object): void {
    this.#peer.notify("session/update", { sessionId, update });
  }

  /** Version 2 reports what a conversation does as its state. */
  #state(sessionId: string, state: object): void {
    if (this.#version === 2) this.#notify(sessionId, { sessionUpdate: "state_update", ...state });
  }

  /** Shows a notice, or logs it for clients that show none. */
  #notice(sessionId: string, message: string): void {
    if (!this.#showsNotices) return this.#options.log(message);
    this.#update(sessionId, { sessionUpdate: "notice", severity: "warning", title: message });
  }

  #unknown(sessionId: unknown): RpcRefusal {
    const message = "There is no such conversation. Create or load one.";
    return this.#version === 2
      ? new RpcRefusal(RpcCode.notFound, message, { sessionId })
      : new RpcRefusal(RpcCode.invalidParams, message);
  }
}

/** Clients of version 1 tell messages apart by their order. */
function withoutMessageId(update: SessionUpdate): SessionUpdate {
  if (!("messageId" in update)) return update;
  const { messageId: _, ...rest } = update;
  return rest as SessionUpdate;
}

/** Returns the state after a turn, from what it ended with. */
function idle(end: unknown): object {
  if (end instanceof RpcRefusal) {
    const { code, message, data } = end;
    return { state: "idle", stopReason: "error", error: { code, message, data } };
  }
  return { state: "idle", stopReason: memberAt(end, "stopReason") };
}

function broken(thrown: unknown): object {
  return idle(new RpcRefusal(RpcCode.internal, `Internal error: ${thrownText(thrown)}`));
}

/** Returns the member at a path of names; undefined if there is none. */
function memberAt(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => isObject(at) ? at[name] : undefined, value);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

function isEmpty(table: object): boolean {
  return Object.keys(table).length === 0;
}

const BUSY = new RpcRefusal(RpcCode.invalidRequest, "A turn of this conversation is still running.");

function refusal(problem: Problem, rpc: number = RpcCode.internal): RpcRefusal {
  return new RpcRefusal(rpc, problemLine(problem), { code: problem.code });
}

// An agent for editors that speak the Agent Client Protocol, version 1. Each conversation is a document; the client
// asks the person for decisions.

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { openChat, RequestLimiter } from "../../agent/open.ts";
import type { ChatSession } from "../../agent/types.ts";
import type { Environment } from "../../base/environment.ts";
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
import { takeTurn } from "./turn.ts";

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
  turn: { readonly controller: AbortController; readonly ended: Promise<unknown> } | null;
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
  "session/set_config_option": (agent, { sessionId, configId, value }) =>
    agent.choose(sessionId, configId, value),
  "session/set_mode": async (agent, { sessionId, modeId }) => {
    const answer = await agent.choose(sessionId, "mode", modeId);
    return answer instanceof RpcRefusal ? answer : {};
  },
};

class Agent {
  readonly #options: AgentOptions;
  readonly #peer: Peer;
  readonly #conversations = new Map<string, Conversation>();
  /** Limits the requests to a provider, for all conversations together. */
  readonly #limiter = new RequestLimiter();
  #initialized = false;
  #asksForms = false;

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
    const turns = [...this.#conversations.values()].map(({ turn }) => turn).filter((turn) => turn !== null);
    for (const { controller } of turns) controller.abort();
    await Promise.allSettled(turns.map(({ ended }) => ended));
    await this.#peer.quiet();
  }

  #handle(call: RpcCall): unknown {
    const { method, params } = call;
    if (!Object.hasOwn(ANSWERS, method)) {
      return new RpcRefusal(RpcCode.methodNotFound, `The method ${method} is unknown.`);
    }
    if (!this.#initialized && method !== "initialize") {
      return new RpcRefusal(RpcCode.invalidRequest, `${method} was sent before initialize.`);
    }
    return ANSWERS[method]!(this, isObject(params) ? params : {}, call);
  }

  initialize({ clientCapabilities }: Readonly<Record<string, unknown>>) {
    this.#initialized = true;
    const elicitation = isObject(clientCapabilities) ? clientCapabilities.elicitation : undefined;
    this.#asksForms = isObject(elicitation) && isObject(elicitation.form);
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

  async begin({ cwd, mcpServers }: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (typeof cwd !== "string" || !cwd.startsWith("/")) return NO_FOLDER;
    const made = await begin(this.#options.environment, cwd, new Date());
    if (!made.ok) return refusal(made.problem);
    return await this.#opened(made.value, cwd, mcpServers);
  }

  async load(
    { sessionId, cwd, mcpServers }: Readonly<Record<string, unknown>>,
    tells: boolean,
  ): Promise<unknown> {
    if (typeof cwd !== "string" || !cwd.startsWith("/")) return NO_FOLDER;
    const found = await findConversation(String(sessionId), cwd);
    if (!found.ok) return refusal(found.problem);
    const known = this.#conversations.get(String(sessionId));
    if (known !== undefined && known.turn !== null) return BUSY;
    if (tells) {
      const session = await this.#openReadOnly({ path: found.value, chosen: {}, servers: {} });
      if (!session.ok) return refusal(session.problem);
      await using readOnly = session.value;
      for await (const update of replay(readOnly)) this.#update(String(sessionId), update);
    }
    const opened = await this.#opened(found.value, cwd, mcpServers);
    if (opened instanceof RpcRefusal) return opened;
    const { sessionId: _, ...answer } = opened;
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
    this.#conversations.delete(String(sessionId));
    return {};
  }

  cancel({ sessionId }: Readonly<Record<string, unknown>>): void {
    this.#conversations.get(String(sessionId))?.turn?.controller.abort();
  }

  async prompt(
    { sessionId, prompt }: Readonly<Record<string, unknown>>,
    { signal }: RpcCall,
  ): Promise<unknown> {
    const conversation = this.#conversations.get(String(sessionId));
    if (conversation === undefined) return UNKNOWN;
    if (conversation.turn !== null) return BUSY;
    const controller = new AbortController();
    signal.addEventListener("abort", () => controller.abort(), { once: true });
    const ended = this.#take(conversation, prompt, controller.signal);
    conversation.turn = { controller, ended };
    try {
      return await ended;
    } finally {
      conversation.turn = null;
    }
  }

  async #take(conversation: Conversation, prompt: unknown, signal: AbortSignal): Promise<unknown> {
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
      this.#update(id, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: outcome } });
      return { stopReason: "end_turn" };
    }
    try {
      for (const { name, bytes } of attachments) await Deno.writeFile(name, bytes, { createNew: true });
    } catch (thrown) {
      return refusal(failure("attachment", `An image cannot be saved: ${thrownText(thrown)}.`).problem);
    }
    const ended = await takeTurn({
      open: (emit) => this.#open(conversation, emit, signal),
      update: (update) => this.#update(id, update),
      request: (method, params) => this.#peer.request(method, params),
      signal,
      sessionId: id,
      spent,
      asksForms: this.#asksForms,
    }, text);
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
    if (conversation === undefined) return UNKNOWN;
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
    return { configOptions: options };
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
      turn: null,
    };
    const opened = await this.#openReadOnly(conversation);
    if (!opened.ok) return refusal(opened.problem);
    await using session = opened.value;
    for (const { message } of session.loaded.notices) this.#options.log(message);
    const left = Array.isArray(mcpServers) ? mcpServers.length - Object.keys(servers).length : 0;
    if (left > 0) this.#options.log(`${left} of the client's MCP servers cannot be used.`);
    this.#conversations.set(id, conversation);
    // A client must know the conversation before it gets updates about it, so these follow later.
    setTimeout(() => {
      this.#update(id, { sessionUpdate: "available_commands_update", availableCommands: SLASH_COMMANDS });
    });
    return { sessionId: id, modes: modes(session), configOptions: configOptions(session) };
  }

  #openReadOnly(
    conversation: Pick<Conversation, "path" | "chosen" | "servers">,
  ): Promise<Outcome<ChatSession>> {
    return openChat(conversation.path, { ...this.#host(conversation), readOnly: true });
  }

  #open(conversation: Conversation, emit: Emit, signal: AbortSignal): Promise<Outcome<ChatSession>> {
    const notify = ({ message }: Problem) => this.#options.log(message);
    return openChat(conversation.path, { ...this.#host(conversation), emit, signal, notify });
  }

  #host({ path, chosen, servers }: Pick<Conversation, "path" | "chosen" | "servers">) {
    const environment = { ...this.#options.environment, cwd: folderOfDocument(path) };
    const overrides = { ...overridesFromChoice(chosen), ...(isEmpty(servers) ? {} : { mcp: { servers } }) };
    return { environment, settings: { overrides }, limiter: this.#limiter };
  }

  #update(sessionId: string, update: SessionUpdate): void {
    this.#peer.notify("session/update", { sessionId, update });
  }
}

function isEmpty(table: object): boolean {
  return Object.keys(table).length === 0;
}

const UNKNOWN = new RpcRefusal(
  RpcCode.invalidParams,
  "There is no such conversation. Create or load one.",
);
const BUSY = new RpcRefusal(RpcCode.invalidRequest, "A turn of this conversation is still running.");
const NO_FOLDER = new RpcRefusal(RpcCode.invalidParams, "cwd must be an absolute path.");

function refusal(problem: Problem, rpc: number = RpcCode.internal): RpcRefusal {
  return new RpcRefusal(rpc, problemLine(problem), { code: problem.code });
}

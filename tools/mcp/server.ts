// One configured MCP server: its known tools, and a connection that is open only while it is needed.

import { stateNotice } from "../../base/folders.ts";
import { failed, type Outcome, type Problem, problemLine, success } from "../../base/problem.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import type {
  ExecutionContext,
  ExecutionResult,
  PersonsAnswers,
  ToolDefinition,
  ToolInput,
} from "../definition.ts";
import { type CallOutcome, Connection, type GivenAnswers } from "./connection.ts";
import { expandServer } from "./expand.ts";
import { CachedList } from "./cached_list.ts";
import { type McpNetwork, singleRequests } from "./http.ts";
import { type AskedState, readState } from "./questions/read.ts";
import { resultOf } from "./result.ts";
import { shortenResult } from "./shown.ts";
import { Bearer } from "./sign_in/bearer.ts";
import { signInProblem, type SignInStore } from "./sign_in/types.ts";
import { hasFolderArgument, insertableVariables, type SpawnPlace, spawnServer } from "./spawn.ts";
import { type CalledTool, definitionsOf } from "./tool_list.ts";

/** Seconds for the first start of a server: its program may have to be downloaded. */
export const FIRST_START = 60;
/** Seconds for every other start, also after a first start that failed. */
const LATER_START = 10;

/** Returns how long a server may take to start, in seconds; the person's own value always holds. */
export function startSeconds(
  { start_timeout: own }: Pick<McpServer, "start_timeout">,
  { isFirst, hasFailed }: { readonly isFirst: boolean; readonly hasFailed: boolean },
): number {
  const usual = isFirst && !hasFailed ? FIRST_START : LATER_START;
  return hasFailed ? Math.min(own ?? usual, LATER_START) : own ?? usual;
}

const SIGN_IN_NEEDED = "mcp-sign-in-needed";

/** Idle milliseconds after which a server in the sandbox ends, because file tools wait while it runs. */
const IDLE = 5000;

/** Services that servers need from their host. */
export interface ServerPlace extends SpawnPlace {
  readonly version: string;
  /** Returns the network access to a URL. */
  network(url: string): Promise<Outcome<McpNetwork>>;
  /** Returns where the sign-in at a server is kept; absent if no server gets a sign-in. */
  signIns?(name: string, url: string): SignInStore;
  tell(problem: Problem): void;
}

/** A connection that is open or being opened. */
interface Opened {
  readonly outcome: Promise<Outcome<Connection>>;
  readonly giveUp: AbortController;
}

export class Server {
  readonly name: string;
  readonly #settings: McpServer;
  readonly #place: ServerPlace;
  readonly #cached: CachedList;
  #opened: Opened | null = null;
  #calls = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** True if the connection must be closed as soon as its calls have ended. */
  #unwanted = false;
  /** True if the server announced a changed tool list. */
  #listChanged = false;
  #reportedMissing = false;
  /** The tools as this run listed them last; null if it did not. */
  #listed: readonly unknown[] | null = null;

  constructor(name: string, settings: McpServer, place: ServerPlace) {
    this.name = name;
    this.#settings = settings;
    this.#place = place;
    this.#cached = new CachedList(name, settings, place.environment);
  }

  /** Returns the server's tools as last listed; null if the server was never asked. */
  async known(): Promise<ToolDefinition[] | null> {
    const known = await this.#cached.read();
    return known === null ? null : this.#definitions(known.tools);
  }

  /**
   * Asks the server for its tools, and caches the answer. If the last such start failed, waits for a short time only,
   * unless `isPatient`.
   */
  async ask({ isPatient = false } = {}): Promise<Outcome<ToolDefinition[]>> {
    const hasFailed = !isPatient && await this.#cached.hasFailed();
    // The protocol is negotiated again, because the server may have been updated.
    const opened = await this.#connect(startSeconds(this.#settings, { isFirst: true, hasFailed }), null);
    if (!opened.ok) {
      if (opened.problem.code !== SIGN_IN_NEEDED) await this.#cached.noteFailure();
      return opened;
    }
    this.#calls++;
    try {
      return success(await this.#list(opened.value));
    } catch (thrown) {
      return { ok: false, problem: await opened.value.problemOf(thrown, "list its tools") };
    } finally {
      this.#rest();
    }
  }

  /** Sends a request about prompts or resources, and returns the result. */
  async request(method: string, params: Record<string, unknown>): Promise<Outcome<unknown>> {
    const isFirst = await this.#cached.read() === null;
    const opened = await this.#connect(startSeconds(this.#settings, { isFirst, hasFailed: false }));
    if (!opened.ok) return opened;
    this.#calls++;
    try {
      return success(await opened.value.request(method, params, this.#settings.timeout ?? 60));
    } catch (thrown) {
      return { ok: false, problem: await opened.value.problemOf(thrown, `answer ${method}`) };
    } finally {
      this.#rest();
    }
  }

  /** If the running server announced that its tool list has changed, returns its new tools; otherwise null. */
  async news(): Promise<ToolDefinition[] | null> {
    if (!this.#listChanged || this.#opened === null) return null;
    const opened = await this.#opened.outcome;
    if (!opened.ok || opened.value.ended) return null;
    this.#calls++;
    try {
      const before = JSON.stringify(this.#listed ?? (await this.#cached.read())?.tools);
      const definitions = await this.#list(opened.value);
      // Many servers announce a change at startup although nothing changed.
      return JSON.stringify(this.#listed) === before ? null : definitions;
    } catch {
      // The server ended meanwhile; its next start lists the tools again.
      return null;
    } finally {
      this.#rest();
    }
  }

  /** Ends a server in the sandbox as soon as it is idle. */
  async release(): Promise<void> {
    if (!this.#isInside) return;
    if (this.#calls > 0) this.#unwanted = true;
    else await this.close();
  }

  /** Closes the connection, even while it is being opened. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#unwanted = false;
    const before = this.#opened;
    this.#opened = null;
    before?.giveUp.abort(new Error("it is no longer needed"));
    const opened = await before?.outcome;
    if (opened?.ok) await opened.value.close();
  }

  /** @param era the protocol that the server spoke last; null if unknown, absent to look it up */
  async #connect(seconds: number, era?: null): Promise<Outcome<Connection>> {
    clearTimeout(this.#idle);
    // There is no `await` between the check and the assignment: otherwise two calls could start two servers.
    const now = this.#opened ??= this.#open(seconds, era);
    const outcome = await now.outcome;
    if (outcome.ok && !outcome.value.ended) return outcome;
    if (this.#opened === now) this.#opened = null;
    return outcome.ok ? await this.#connect(seconds, era) : outcome;
  }

  #open(seconds: number, era?: null): Opened {
    const { server, missing } = expandServer(this.#settings, insertableVariables(this.name, this.#place));
    if (missing.length > 0 && !this.#reportedMissing) {
      this.#reportedMissing = true;
      this.#place.tell({
        code: "mcp-variable-missing",
        message: `The MCP server ${this.name} starts without ${
          missing.join(", ")
        }: not set, or not passed to programs that tools start.`,
        next: "Set it, or add it to tools.env.pass.",
      });
    }
    const giveUp = new AbortController();
    const { folder } = this.#place;
    const open = async () =>
      await Connection.open(this.name, server, {
        version: this.#place.version,
        roots: hasFolderArgument(server, this.#place)
          ? []
          : [new URL(`file://${folder.split("/").map(encodeURIComponent).join("/")}`).href],
        confined: this.#settings.sandbox !== false && this.#place.sandbox.enabled,
        spawn: (server) => spawnServer(this.name, server, this.#place),
        network: (url) => this.#place.network(url),
        bearer: this.#bearerFor(server),
        onListChanged: () => this.#listChanged = true,
      }, {
        seconds,
        era: era === null ? null : (await this.#cached.read())?.era ?? null,
        signal: giveUp.signal,
      });
    return { outcome: open(), giveUp };
  }

  /** A server that gets a token from the settings gets no other. */
  #bearerFor({ url, headers }: McpServer): Bearer | null {
    const { signIns } = this.#place;
    const hasToken = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "authorization");
    if (!url || signIns === undefined || hasToken) return null;
    return new Bearer(this.name, url, signIns(this.name, url), singleRequests(this.#place.network));
  }

  async #list(connection: Connection): Promise<ToolDefinition[]> {
    this.#listChanged = false;
    const listed = this.#listed = await connection.tools(this.#settings.timeout ?? 60);
    try {
      await this.#cached.write({ tools: listed, era: connection.era });
    } catch (thrown) {
      const effect = `The tools of the MCP server ${this.name} are known in this run only.`;
      this.#place.tell(stateNotice(this.#place.environment, thrown, effect));
    }
    return this.#definitions(listed);
  }

  #definitions(listed: readonly unknown[]): ToolDefinition[] {
    return definitionsOf(listed, {
      server: this.name,
      settings: this.#settings,
      runs: this.#isInside ? "inside" : "outside",
      call: (tool, input, context) => this.#call(tool, input, context),
    });
  }

  /**
   * Ends one use of the connection. If it was the last one and the server runs in the sandbox, the server ends soon,
   * because file tools wait until it has ended.
   */
  #rest(): void {
    this.#calls--;
    if (this.#calls > 0 || this.#settings.sandbox === false) return;
    clearTimeout(this.#idle);
    if (this.#unwanted) return void this.close();
    this.#idle = setTimeout(() => this.close(), IDLE);
    Deno.unrefTimer(this.#idle);
  }

  async #call(tool: CalledTool, input: ToolInput, context: ExecutionContext): Promise<ExecutionResult> {
    this.#calls++;
    try {
      const done = await this.#answer(tool, input, context);
      return await shortenResult(done, context);
    } finally {
      this.#rest();
    }
  }

  async #answer(
    { name, schema }: CalledTool,
    input: ToolInput,
    context: ExecutionContext,
  ): Promise<ExecutionResult> {
    const given = context.answers === undefined ? success(null) : await this.#answersIn(context.answers);
    if (!given.ok) return { success: false, error: given.problem };
    // If the server refuses a call because it does not know the session, it has not run the call, so the call is
    // repeated once.
    for (let tries = 1;; tries++) {
      const opened = await unlessAborted(
        this.#connect(startSeconds(this.#settings, { isFirst: false, hasFailed: false })),
        context.signal,
      );
      if (opened === null) return { success: false, error: this.#stopped };
      if (!opened.ok) {
        const { problem } = opened;
        const needs = problem.code === SIGN_IN_NEEDED ? { needs: problem } : {};
        return { success: false, error: problemLine(problem), ...needs };
      }
      const outcome = await opened.value.call(name, input, {
        seconds: this.#settings.timeout ?? 60,
        signal: context.signal,
        schema,
        onProgress: (text) => context.onOutput(text),
        answers: given.value,
      });
      if (context.signal.aborted) return { success: false, error: this.#stopped };
      if (outcome.kind === "answer") {
        return await resultOf(outcome.answer, this.#place.environment);
      }
      if (outcome.kind === "questions") return await this.#asking({ server: this.name, ...outcome.asked });
      if (outcome.kind === "sign-in") {
        const needs = signInProblem(this.name, { message: outcome.why });
        return { success: false, error: problemLine(needs), needs };
      }
      // If the server stopped answering, the next call starts a new connection.
      const isLost = outcome.kind === "lost" || outcome.kind === "silent" && !await opened.value.lives();
      if (isLost) await this.#drop(opened.value);
      if (outcome.kind === "lost" && outcome.forgotten && tries === 1) continue;
      return { success: false, error: this.#sentence(outcome) };
    }
  }

  /** Reads what the person answered. */
  async #answersIn({ answers, state }: PersonsAnswers): Promise<Outcome<GivenAnswers | null, string>> {
    const { declineAll, readAnswers } = await import("./questions/answers.ts");
    const kept = readState(state);
    if (kept === null || kept.server !== this.name) {
      return failed(
        `The questions of this call are not of the MCP server ${this.name}, so it did not go on.`,
      );
    }
    const read = answers === null ? success(declineAll(kept)) : await readAnswers(kept, answers);
    return read.ok
      ? success({ state: kept, answers: read.value })
      : failed(`The answers could not be sent: ${read.problem}`);
  }

  /** The result of a call that goes on after the person's answers. */
  async #asking(asked: AskedState): Promise<ExecutionResult> {
    const { askedSentence, writeQuestions } = await import("./questions/write.ts");
    const message = askedSentence(asked);
    const asks = { questions: writeQuestions(asked), state: JSON.stringify(asked), message };
    return { success: false, error: `${message}. Nobody can answer here.`, asks };
  }

  /** True if the server is a program that runs in the sandbox, provided that there is a sandbox. */
  get #isInside(): boolean {
    return this.#settings.sandbox !== false && !this.#settings.url;
  }

  get #stopped(): string {
    return `The call to the MCP server ${this.name} was stopped.`;
  }

  #sentence(outcome: Exclude<CallOutcome, { kind: "answer" | "sign-in" | "questions" }>): string {
    if (outcome.kind === "refused") return `The MCP server ${this.name} refused the call: ${outcome.why}`;
    if (outcome.kind === "silent") {
      return `The MCP server ${this.name} did not answer: ${outcome.why}. ` +
        `To wait longer, raise mcp.servers.${this.name}.timeout.`;
    }
    if (outcome.kind === "asks") {
      return `The MCP server ${this.name} ${outcome.what}; flemma does not offer this.`;
    }
    const { why, next } = outcome.fault;
    return `The MCP server ${this.name} did not answer: ${why}${next === undefined ? "" : ` ${next}`}`;
  }

  /** Discards and closes a connection that no longer works. */
  async #drop(connection: Connection): Promise<void> {
    const current = await this.#opened?.outcome;
    if (current?.ok && current.value === connection) this.#opened = null;
    await connection.close();
  }
}

/** Returns the result of a promise; null if the signal aborts before the promise settles. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(null);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

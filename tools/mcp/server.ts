// A server of the settings: what is known of its tools, and a connection that stands only while somebody needs it.

import { readOrNull, replaceSmallFile } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { quickHash, sha256 } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { nameFilter } from "../../config/rules/name_filter.ts";
import type { McpServer } from "../../config/settings.ts";
import type { ExecutionContext, ExecutionResult, ToolDefinition, ToolInput } from "../definition.ts";
import { Connection, type ServerTool } from "./connection.ts";
import { expandServer } from "./expand.ts";
import { resultOf } from "./result.ts";
import { serverVariables, type SpawnPlace, spawnServer } from "./spawn.ts";

/** Seconds for a server that nobody asked yet: its program may have to be fetched. */
const FIRST_START = 60;
/** Milliseconds without a call after which a server in the sandbox ends: file tools of others wait for it. */
const IDLE = 5000;

/** What servers need of their host. */
export interface ServerPlace extends SpawnPlace {
  readonly version: string;
  readonly fetch?: typeof fetch;
  tell(problem: Problem): void;
}

/** One server with its tools. */
export class Server {
  readonly name: string;
  readonly #settings: McpServer;
  readonly #place: ServerPlace;
  #connection: Promise<Outcome<Connection>> | null = null;
  #calls = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(name: string, settings: McpServer, place: ServerPlace) {
    this.name = name;
    this.#settings = settings;
    this.#place = place;
  }

  /** Its tools as they were listed last; null when nobody asked it yet. */
  async known(): Promise<ToolDefinition[] | null> {
    try {
      const value: unknown = JSON.parse(await Deno.readTextFile(await this.#file()));
      return Array.isArray(value) ? this.#definitions(value) : null;
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound || thrown instanceof SyntaxError) return null;
      throw thrown;
    }
  }

  /** Asks it for its tools, and keeps the answer. */
  async ask(): Promise<Outcome<ToolDefinition[]>> {
    const opened = await this.#connect(Math.max(FIRST_START, this.#settings.start_timeout ?? 10));
    if (!opened.ok) return opened;
    try {
      const tools = await opened.value.tools(this.#settings.timeout ?? 60);
      await this.#keep(tools);
      return success(this.#definitions(tools));
    } catch (thrown) {
      return failure(
        "mcp-unreachable",
        `The server ${this.name} does not tell its tools: ${thrownText(thrown)}.`,
      );
    } finally {
      this.#rest();
    }
  }

  /** Ends a server in the sandbox that has nothing to do. */
  async release(): Promise<void> {
    if (this.#calls === 0 && this.#settings.sandbox !== false) await this.close();
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const connection = this.#connection;
    this.#connection = null;
    const opened = await connection;
    if (opened?.ok) await opened.value.close();
  }

  async #connect(seconds: number): Promise<Outcome<Connection>> {
    clearTimeout(this.#idle);
    const before = await this.#connection;
    if (before !== null && before.ok && !before.value.ended) return before;
    const opening = Connection.open(this.name, expandServer(this.#settings, this.#variables()), {
      version: this.#place.version,
      roots: [new URL(`file://${encodeURI(this.#place.folder)}`).href],
      spawn: (server) => spawnServer(server, this.#place),
      fetch: this.#place.fetch,
      onListChanged: () => this.#changed(),
    }, seconds);
    this.#connection = opening;
    const opened = await opening;
    if (!opened.ok) this.#connection = null;
    return opened;
  }

  #variables(): Readonly<Record<string, string>> {
    return { ...serverVariables(this.#place), ...this.#settings.env };
  }

  /** A new list holds from the next run on: another offer would spoil the provider's cache in the middle of this one. */
  async #changed(): Promise<void> {
    try {
      const opened = await this.#connection;
      if (!opened?.ok) return;
      const tools = await opened.value.tools(this.#settings.timeout ?? 60);
      const before = await readOrNull(await this.#file());
      // Many servers say so while they start, although nothing is different.
      if (before === null || new TextDecoder().decode(before) === JSON.stringify(tools)) return;
      await this.#keep(tools);
      this.#place.tell({
        code: "mcp-tools-changed",
        message: `The server ${this.name} has other tools now; they are offered from the next run on.`,
      });
    } catch {
      // It ended meanwhile; it is asked again when it is needed.
    }
  }

  #rest(): void {
    if (this.#calls > 0 || this.#settings.sandbox === false) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), IDLE);
    Deno.unrefTimer(this.#idle);
  }

  #definitions(tools: readonly unknown[]): ToolDefinition[] {
    const isTaken = nameFilter(this.#settings.include ?? ["*"], this.#settings.exclude ?? []);
    return tools.filter(isSound).filter(({ name }) => isTaken(name)).map((tool) => this.#definition(tool));
  }

  #definition({ name, description, inputSchema: { $schema: _, ...schema } }: ServerTool): ToolDefinition {
    return {
      name: `${this.name}:${name}`,
      description: description ?? "",
      input_schema: schema,
      async: true,
      execute: (input, context) => this.#call(name, input, context),
    };
  }

  async #call(name: string, input: ToolInput, context: ExecutionContext): Promise<ExecutionResult> {
    const opened = await this.#connect(this.#settings.start_timeout ?? 10);
    if (!opened.ok) {
      const { message, next } = opened.problem;
      return { success: false, error: next === undefined ? message : `${message} ${next}` };
    }
    this.#calls++;
    try {
      const answer = await opened.value.call(name, input, {
        seconds: this.#settings.timeout ?? 60,
        signal: context.signal,
        onProgress: (text) => context.onOutput(text),
      });
      const result = await resultOf(answer, (bytes, type) => this.#save(bytes, type));
      if (typeof result.output !== "string") return result;
      const output = await context.truncate.truncateWithOverflow(result.output, {
        direction: "head",
        source: "mcp",
      });
      return { ...result, output };
    } catch (thrown) {
      // Where it stopped answering, the next call gets a server that does.
      if (!context.signal.aborted) await this.#broken(opened.value);
      return { success: false, error: `The server ${this.name} gave no answer: ${thrownText(thrown)}` };
    } finally {
      this.#calls--;
      this.#rest();
    }
  }

  async #broken(connection: Connection): Promise<void> {
    const current = await this.#connection;
    if (current?.ok && current.value === connection && this.#calls === 1) await this.close();
  }

  /** Puts bytes where the model can read them. */
  async #save(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<string> {
    const ending = /^[\w.-]+\/([\w.-]+)/.exec(type)?.[1] ?? "bin";
    const folder = this.#place.environment.variables.TMPDIR || "/tmp";
    const path = `${folder}/flemma_mcp_${(await sha256(bytes)).slice(0, 16)}.${ending}`;
    await replaceSmallFile(path, bytes, { durable: false });
    return path;
  }

  async #file(): Promise<string> {
    const { include: _i, exclude: _e, timeout: _t, start_timeout: _s, ...what } = this.#settings;
    const key = quickHash(this.name) + (await sha256(JSON.stringify(what))).slice(0, 32);
    return `${stateFolder(this.#place.environment)}/mcp/${key}.json`;
  }

  async #keep(tools: readonly ServerTool[]): Promise<void> {
    const file = await this.#file();
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    await replaceSmallFile(file, new TextEncoder().encode(JSON.stringify(tools)), { durable: false });
  }
}

/** A tool that can be offered: each is read by itself, so that a bad one costs no other. */
function isSound(tool: unknown): tool is ServerTool {
  if (!isObject(tool) || typeof tool.name !== "string" || !isObject(tool.inputSchema)) return false;
  // deno-lint-ignore no-control-regex -- such a name could not be written into a document and read back
  if (tool.name === "" || /[`\x00-\x1f\x7f]/.test(tool.name)) return false;
  // What must run as a task is more than a call.
  return !(isObject(tool.execution) && tool.execution.taskSupport === "required");
}

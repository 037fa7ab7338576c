// A cycle on a document in memory, with a journal in memory, the fake tools of the vectors and a counted send.

import { DEFAULT_SETTINGS, type Settings, type ToolSettings } from "../../config/settings.generated.ts";
import type { Problem } from "../../base/problem.ts";
import { Cycle, type CycleParts } from "../../cycle/run/cycle.ts";
import { RunJournal } from "../../cycle/storage/journal.ts";
import type { CycleEvent, DocumentStore, Growth, SendOutcome } from "../../cycle/types.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Call, Chat } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";
import type { Effects, ExecutionContext, ExecutionResult, ToolDefinition } from "../../tools/definition.ts";
import { runTool } from "../../tools/run.ts";

/** Holds a document; remembers each text that was committed; can be told to fail. */
export class TextStore implements DocumentStore {
  readonly path = null;
  chat: Chat;
  readonly commits: string[] = [];
  /** Given instead of a commit while set. */
  problem: Problem | null = null;

  constructor(text: string) {
    this.chat = parse(new TextEncoder().encode(text));
  }

  get text(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.chat.bytes);
  }

  /** The document as somebody else's editor would leave it. */
  set text(text: string) {
    this.chat = parse(new TextEncoder().encode(text));
  }

  get behind(): Uint8Array {
    return new Uint8Array(0);
  }

  #from: number | null = null;

  get growsFrom(): number {
    return this.#from ?? this.chat.byteLength;
  }

  extend(pieces: readonly string[], { replace, last }: Growth): Promise<Problem | null> {
    const end = this.chat.byteLength;
    this.#from = last ? null : this.#from ?? end;
    return this.commit([{ from: end - replace, to: end, insert: pieces.join("") }]);
  }

  commit(edits: readonly Edit[]): Promise<Problem | null> {
    if (this.problem !== null) return Promise.resolve(this.problem);
    this.chat = update(this.chat, edits);
    this.commits.push(this.text);
    return Promise.resolve(null);
  }
}

/** A journal that lasts as long as the test; writes down what was recorded, in order. */
export class MemoryJournal extends RunJournal {
  readonly bodies: { id: string; body: string }[] = [];
  readonly log: string[] = [];
  readonly #results = new Map<string, string>();

  constructor() {
    super({ cwd: "/", home: "/", variables: {} }, "test", null, [], false);
  }

  override async recordStart(id: string, tool: string, effects?: Effects): Promise<void> {
    await super.recordStart(id, tool, effects);
    this.log.push(`start ${id}`);
  }

  override async recordEnd(id: string): Promise<void> {
    await super.recordEnd(id);
    this.#results.delete(id);
    this.log.push(`end ${id}`);
  }

  override keepBody(id: string, body: string): Promise<string> {
    this.bodies.push({ id, body });
    return Promise.resolve(`memory:${this.bodies.length}`);
  }

  override async keepResult(id: string, body: string): Promise<string> {
    const place = await this.keepBody(id, body);
    this.#results.set(id, place);
    return place;
  }

  override savedResults(): ReadonlyMap<string, string> {
    return this.#results;
  }
}

const anyObject = { type: "object", properties: {} };

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The tools of the vectors. */
export const FAKE_TOOLS: readonly ToolDefinition[] = [
  {
    name: "echo",
    description: "gives back its text",
    input_schema: anyObject,
    execute(input): ExecutionResult {
      if (input.fail !== undefined) return { success: false, error: text(input.fail), output: input.partial };
      if (input.obj !== undefined) return { success: true, output: input.obj };
      return { success: true, output: input.text };
    },
  },
  {
    name: "slow",
    description: "gives back its text after a while",
    input_schema: anyObject,
    async: true,
    execute(input, _context, callback) {
      const milliseconds = typeof input.ms === "number" ? input.ms : 5;
      const timer = setTimeout(() => callback({ success: true, output: input.text }), milliseconds);
      return () => clearTimeout(timer);
    },
  },
  {
    name: "boom",
    description: "throws",
    input_schema: anyObject,
    execute() {
      throw new Error("kaput");
    },
  },
  { name: "noret", description: "returns nothing", input_schema: anyObject, execute: () => undefined },
  { name: "schemaonly", description: "only a definition", input_schema: anyObject },
];

export interface Given {
  readonly text: string;
  readonly tools?: Partial<ToolSettings>;
  /** Tools besides the fake ones; the same name takes the place of a fake one. */
  readonly definitions?: readonly ToolDefinition[];
  readonly decide?: CycleParts["decide"];
  readonly run?: CycleParts["run"];
  readonly send?: CycleParts["send"];
  readonly checkInput?: CycleParts["checkInput"];
  readonly blockers?: CycleParts["blockers"];
  readonly signal?: AbortSignal;
  readonly journal?: MemoryJournal;
}

export interface Bench {
  readonly cycle: Cycle;
  readonly store: TextStore;
  readonly journal: MemoryJournal;
  readonly events: CycleEvent[];
  /** Ids in the order their tools were called. */
  readonly ran: string[];
  sends(): number;
  /** Codes of the notices so far. */
  notices(): string[];
}

/** Builds a cycle around a document. Without `decide`, `tools.auto_approve` is a list of names. */
export function bench(given: Given): Bench {
  const settings: Settings = { ...DEFAULT_SETTINGS, tools: { ...DEFAULT_SETTINGS.tools, ...given.tools } };
  const definitions = new Map([...FAKE_TOOLS, ...given.definitions ?? []].map((tool) => [tool.name, tool]));
  const store = new TextStore(given.text);
  const journal = given.journal ?? new MemoryJournal();
  const events: CycleEvent[] = [];
  const ran: string[] = [];
  let sends = 0;
  const names = Array.isArray(settings.tools.auto_approve) ? settings.tools.auto_approve : [];
  const parts: CycleParts = {
    store,
    journal,
    settings,
    tools: {
      get: (name) => definitions.get(name),
      has: (name) => definitions.has(name),
      closestMatch: () => null,
    },
    decide: given.decide ?? (({ name }): Promise<ApprovalDecision> =>
      Promise.resolve(
        names.includes(name)
          ? { decision: "approve", source: "test" }
          : { decision: "require_approval", source: "default" },
      )),
    run: (call, signal, onOutput) => {
      ran.push(call.id);
      return (given.run ?? runFake(definitions))(call, signal, onOutput);
    },
    checkInput: given.checkInput ?? (() => []),
    preview: (call) => `${call.name}: ${call.id}`,
    send: (signal) => {
      sends++;
      return given.send?.(signal) ?? Promise.resolve(NO_REPLY);
    },
    emit: (event) => events.push(event),
    ...(given.blockers === undefined ? {} : { blockers: given.blockers }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  };
  return {
    cycle: new Cycle(parts),
    store,
    journal,
    events,
    ran,
    sends: () => sends,
    notices: () => events.flatMap((event) => event.event === "notice" ? [event.code] : []),
  };
}

/** A send that gets no answer leaves the document and the autopilot as they are. */
export const NO_REPLY: SendOutcome = {
  kind: "failed",
  problem: { code: "stub", message: "The stub of a provider never answers." },
};

function runFake(definitions: ReadonlyMap<string, ToolDefinition>): CycleParts["run"] {
  return (call: Call, signal) => {
    const definition = definitions.get(call.name);
    if (definition === undefined) throw new Error(`no tool ${call.name}`);
    // The fake tools read nothing of their context but the signal; nothing repairs their files.
    return runTool(definition, call.input, { signal, sandbox: {} } as unknown as ExecutionContext);
  };
}

/** An Assistant message with one call for each `ID NAME JSON` given, below a question. */
export function chatWith(...calls: readonly (readonly [id: string, name: string, input?: string])[]): string {
  const blocks = calls.map(([id, name, input = "{}"]) =>
    `**Tool Use:** \`${name}\` (\`${id}\`)\n\n\`\`\`json\n${input}\n\`\`\`\n`
  );
  return `@You:\nPlease help.\n\n@Assistant:\nI will.\n\n${blocks.join("\n")}`;
}

/** A placeholder or result in header style. */
export function block(id: string, suffix = "", body = ""): string {
  const content = body === "" ? "" : `${body}\n`;
  return `**Tool Result:** \`${id}\`${suffix === "" ? "" : ` (${suffix})`}\n\n\`\`\`\n${content}\`\`\`\n`;
}

/** A document of calls and their blocks. */
export function chatAnswered(calls: string, ...blocks: readonly string[]): string {
  return `${calls}\n@You:\n\n${blocks.join("\n")}`;
}

/** Calls of one tool, and below them a block of each id with its status. */
export function callsOf(tool: string, blocks: Readonly<Record<string, string>>): string {
  const ids = Object.keys(blocks);
  return chatAnswered(
    chatWith(...ids.map((id) => [id, tool] as const)),
    ...ids.map((id) => block(id, blocks[id])),
  );
}

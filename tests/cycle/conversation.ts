// A conversation over a real socket with a scripted model: each send is a separate run, with its memory on disk.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { RunLimits } from "../../cycle/send/limits.ts";
import { createSend } from "../../cycle/send/send.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, SendOutcome } from "../../cycle/types.ts";
import { replayProvider } from "../../providers/replay/provider.ts";
import {
  type Replay,
  type ReplayOptions,
  type ScriptedReply,
  startReplay,
} from "../../providers/replay/server.ts";
import { getProvider } from "../../providers/registry.ts";
import type { OfferedTool } from "../../providers/types.ts";
import { removeFolder } from "../folder.ts";

export interface ConversationOptions extends ReplayOptions {
  /** The document at the beginning. @default a question */
  readonly text?: string;
  readonly replies: readonly ScriptedReply[];
}

/** A block as it went over the wire. */
export type WireBlock = Readonly<Record<string, unknown>>;

export class Conversation {
  text: string;
  settings: Settings = DEFAULT_SETTINGS;
  tools: readonly OfferedTool[] = [];
  /** The person's own servers. */
  servers: Settings["providers"] = {};
  /** The project of requests to Vertex AI. */
  project = "demo";
  readonly folder: string;
  replay: Replay;
  /** Names the document; another name has no memory of it. */
  document: string;
  /** The key of the provider. */
  key = "key";
  /** Whether requests to Anthropic have a key too, instead of going to a replay as a provider. */
  takesKey = false;
  /** Whether the person trusts the document. */
  isTrusted = false;
  /** Limits of the requests of a send. */
  limits: RunLimits | undefined = undefined;
  /** Everything that the last send reported. */
  events: readonly CycleEvent[] = [];

  constructor(folder: string, replay: Replay, text: string) {
    this.folder = folder;
    this.replay = replay;
    this.text = text;
    this.document = `${folder}/talk.chat`;
  }

  /** Settings of another model, or with other parameters of Anthropic. */
  use(model: string | null, own: Readonly<Record<string, unknown>> = {}): void {
    const parameters = { ...DEFAULT_SETTINGS.parameters, anthropic: own };
    this.settings = { ...DEFAULT_SETTINGS, model, parameters };
  }

  /** Asks another provider, which the same server plays. */
  ask(provider: string, model: string): void {
    this.use(model);
    const parameters = { ...this.settings.parameters, vertex: { project_id: this.project } };
    this.settings = { ...this.settings, parameters, provider, providers: this.servers };
  }

  /** Adds a person's words below the document. */
  say(words: string): void {
    this.text = `${this.text.trimEnd()}\n`.replace(/\n@You:\n$/, "\n") + `\n@You:\n${words}\n`;
  }

  /** Adds the result of a call. */
  answer(id: string, output: string): void {
    this.say(`**Tool Result:** \`${id}\`\n\n\`\`\`\n${output}\n\`\`\``);
  }

  /** Takes text out or puts other text in its place; it must be there. */
  edit(from: string, to: string): void {
    assert.ok(this.text.includes(from), `${JSON.stringify(from)} is not in\n${this.text}`);
    this.text = this.text.replace(from, () => to);
  }

  /** Sends; answers with what a person is told. */
  async send(): Promise<{ readonly outcome: SendOutcome; readonly reported: readonly string[] }> {
    const { provider: name } = this.settings;
    const environment = {
      cwd: this.folder,
      home: this.folder,
      variables: {
        XDG_STATE_HOME: `${this.folder}/state`,
        [`${name.toUpperCase()}_API_KEY`]: this.key,
        VERTEX_ACCESS_TOKEN: "token",
        [`FLEMMA_${name.toUpperCase()}_BASE_URL`]: this.replay.url,
      },
    };
    const other = await getProvider(name, this.settings);
    assert.ok(other.ok);
    const memory = await openJournal({ environment, path: this.document });
    assert.ok(memory.ok);
    const store = new MemoryStore(new TextEncoder().encode(this.text), this.document);
    const events: CycleEvent[] = [];
    const outcome = await createSend({
      store,
      settings: this.settings,
      environment,
      provider: name === "anthropic" && !this.takesKey ? replayProvider(this.replay) : other.value,
      tools: () => this.tools,
      emit: (event) => events.push(event),
      retry: false,
      journal: memory.value,
      isTrusted: () => Promise.resolve(this.isTrusted),
      limits: this.limits,
    })(new AbortController().signal);
    this.text = new TextDecoder().decode(store.chat.bytes);
    this.events = events;
    const notices = events.flatMap((event) => event.event === "notice" ? [event.message] : []);
    return { outcome, reported: [...notices, ...(outcome.kind === "completed" ? outcome.warnings : [])] };
  }

  /** Writes a file beside the document. */
  write(name: string, text: string): void {
    Deno.writeTextFileSync(`${this.folder}/${name}`, text);
  }

  /** Sends; it must be answered, and `told` match what the person is told, sentence by sentence. */
  async sent(...reported: readonly RegExp[]): Promise<void> {
    const { outcome, reported: found } = await this.send();
    assert.equal(outcome.kind, "completed", outcome.kind === "failed" ? outcome.problem.message : "");
    assert.equal(found.length, reported.length, found.join("\n"));
    reported.forEach((words, index) => assert.match(found[index]!, words));
  }

  /** The body of the last request. */
  get body(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.replay.requests.at(-1)!.body);
  }

  /** Whether the last request was one to Anthropic. */
  get isAnthropic(): boolean {
    return this.replay.requests.at(-1)?.path === "/v1/messages";
  }

  /** The text of all thinking in the last request, in order. */
  get thinking(): readonly string[] {
    const messages = this.body.messages as readonly { readonly content: readonly WireBlock[] }[];
    return messages.flatMap(({ content }) => content)
      .flatMap((block) => block.type === "thinking" ? [String(block.thinking)] : []);
  }
}

export async function converse(
  { text = "@You:\nOne?\n", replies, ...options }: ConversationOptions,
  body: (talk: Conversation) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-talk-" }));
  await using replay = await startReplay({ replies }, options);
  try {
    await body(new Conversation(folder, replay, text));
  } finally {
    await removeFolder(folder);
  }
}

/** A reply that thinks and says something. */
export function thought(thinking: string, text = `Said ${thinking}.`): ScriptedReply {
  return { reply: [{ thinking }, { text }] };
}

/** A reply that thinks and calls. */
export function called(thinking: string, id: string): ScriptedReply {
  return { reply: [{ thinking }, { tool_use: { id, name: "bash", input: { command: "ls" } } }] };
}

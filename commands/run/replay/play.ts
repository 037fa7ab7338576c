// Replays a conversation in a copy of its folder. Replies come from the documents, and tools really run.

import { agreeToWorkFolder } from "../../../agent/trust/agreement.ts";
import type { ChatOptions } from "../../../agent/types.ts";
import type { SettingsHost } from "../../../agent/settings.ts";
import type { Environment } from "../../../base/environment.ts";
import { replaceSmallFile } from "../../../base/files.ts";
import { attachmentsFolder } from "../../../base/folders.ts";
import { absolutePath, baseName, helperFolderOf, isInside } from "../../../base/paths.ts";
import { isObject } from "../../../base/is_object.ts";
import { failure, type Outcome, success } from "../../../base/problem.ts";
import type { Call } from "../../../parser/types.ts";
import { endOfAnswer, namedHelper, questionOfCall, type RecordedDocument } from "./helpers.ts";
import { type Played, type PlayedHelper, Player, type PlayerOptions } from "./player.ts";
import { type RecordedResult, type Recording, recordingOf } from "./recording.ts";

/** A document to replay. */
export interface DocumentToPlay extends RecordedDocument {
  /** Real path of the working folder that the document names; null for its own. */
  readonly workFolder: string | null;
}

/** A replayed document and its results. */
export interface PlayedDocument {
  readonly path: string;
  readonly played: readonly Played[];
}

export interface PlayOptions {
  readonly host: ChatOptions & SettingsHost;
  /** The folder to copy, which holds the documents; the tools work in the copy. */
  readonly folder: string;
  /** The documents of helpers that the calls of the document, or of its helpers, asked. */
  readonly helpers: readonly DocumentToPlay[];
  /** True if returned images and files are saved in the person's state folder, because the document will name them. */
  readonly keepsFiles: boolean;
  /** True if the person allowed the tools to run without a sandbox. */
  readonly bare: boolean;
  /** True if requests that the provider would refuse are accepted. */
  readonly lenient: boolean;
  readonly signal: AbortSignal;
}

/**
 * Replays a conversation, and those of its helpers at the places where they were asked. The documents are only read;
 * tools work on a copy of the folder, which is removed afterwards.
 */
export async function play(
  document: DocumentToPlay,
  options: PlayOptions,
): Promise<Outcome<readonly PlayedDocument[]>> {
  const room = await Deno.makeTempDir({ prefix: "flemma-replay-" });
  try {
    const copied = await copyFolder(options.folder, `${room}/folder`);
    if (!copied.ok) return copied;
    const scene = await sceneIn(room, options);
    await using stage = new Stage([document, ...options.helpers], scene, options);
    const played = await stage.playAll(document);
    if (!played.ok) return played;
    if (options.keepsFiles) {
      const all = played.value.flatMap(({ played }) => played);
      await keepFiles(all, `${room}/state`, options.host.environment);
    }
    return played;
  } finally {
    await Deno.remove(room, { recursive: true });
  }
}

/** The copy in which a replay works. */
interface Scene {
  /** The copied folder. */
  readonly folder: string;
  readonly host: PlayerOptions["host"] & { readonly environment: Environment };
}

async function sceneIn(room: string, { host }: PlayOptions): Promise<Scene> {
  // The state folder is temporary too, so nothing is written to the person's own.
  const state = `${room}/state`;
  const variables = { ...host.environment.variables, XDG_STATE_HOME: state, XDG_RUNTIME_DIR: `${state}/run` };
  await Deno.mkdir(`${state}/run`, { recursive: true, mode: 0o700 });
  const { configPath = host.environment.variables.FLEMMA_CONFIG || undefined, ...named } = host.settings ??
    {};
  const folder = `${room}/folder`;
  const environment = { ...host.environment, cwd: folder, variables };
  // Autopilot is off, because the recorded steps decide what comes next.
  const overrides = withoutAutopilot(named.overrides ?? {});
  // A relative settings path is resolved here, because the copy is in another folder.
  const from = configPath === undefined ? {} : { configPath: absolutePath(host.environment, configPath) };
  return { folder, host: { ...host, settings: { ...named, ...from, overrides }, environment } };
}

/** Replays the documents of one conversation. */
class Stage implements AsyncDisposable {
  readonly #scene: Scene;
  readonly #options: PlayOptions;
  readonly #documents: ReadonlyMap<string, DocumentToPlay & { readonly recording: Recording }>;
  readonly #players = new Map<string, Player>();

  constructor(documents: readonly DocumentToPlay[], scene: Scene, options: PlayOptions) {
    this.#scene = scene;
    this.#options = options;
    this.#documents = new Map(
      documents.map((each) => [each.path, { ...each, recording: recordingOf(each.chat) }]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const player of [...this.#players.values()].reverse()) await player[Symbol.asyncDispose]();
  }

  /** Replays a document to its end. */
  async playAll({ path }: DocumentToPlay): Promise<Outcome<readonly PlayedDocument[]>> {
    const player = await this.#player(path);
    if (!player.ok) return player;
    const done = await player.value.play(player.value.recording.steps.length);
    if (!done.ok) return done;
    return success([...this.#players].map(([path, { played }]) => ({ path, played })));
  }

  /** Opens the copy of a document at its beginning. */
  async #player(path: string): Promise<Outcome<Player>> {
    const known = this.#players.get(path);
    if (known !== undefined) return success(known);
    const { folder: original, bare, lenient, signal } = this.#options;
    const { folder, host } = this.#scene;
    const { recording, workFolder } = this.#documents.get(path)!;
    const copy = `${folder}${path.slice(original.length)}`;
    await Deno.writeFile(copy, recording.beginning);
    if (workFolder !== null && isInside(workFolder, original)) {
      const agreed = await agreeToWorkFolder(
        host.environment,
        copy,
        `${folder}${workFolder.slice(original.length)}`,
      );
      if (!agreed.ok) return agreed;
    }
    const player = await Player.open(copy, recording, {
      ...{ host, bare, lenient, signal },
      asThere: (text) => text.replaceAll(folder, original),
      ask: (call, recorded) => this.#ask(path, call, recorded),
    });
    if (player.ok) this.#players.set(path, player.value);
    return player;
  }

  /** Replays what a helper did for a call, if its document is there. */
  async #ask(caller: string, call: Call, { content }: RecordedResult): Promise<Outcome<PlayedHelper>> {
    const left = (why: string) => success({ replayed: false, words: `${why}, so its result is as recorded` });
    const name = namedHelper(content);
    if (name === null) return left("no helper is named in its result");
    const path = `${helperFolderOf(caller)}/${name}.chat`;
    const helper = this.#documents.get(path);
    const shown = `${baseName(helperFolderOf(caller))}/${name}.chat`;
    if (helper === undefined) return left(`${shown} is missing`);
    const { workFolder } = helper;
    if (workFolder !== null && !isInside(workFolder, this.#options.folder)) {
      return left(`${shown} works in ${workFolder}, which is not copied`);
    }
    const end = endOfAnswer(helper.recording, this.#players.get(path)?.at ?? 0, questionOfCall(call));
    if (end === null) return left(`its question is not in ${shown}`);
    const player = await this.#player(path);
    const done = player.ok ? await player.value.play(end) : player;
    if (done.ok) return success({ replayed: true, words: `${shown} is replayed instead` });
    return { ok: false, problem: { ...done.problem, message: `${shown}: ${done.problem.message}` } };
  }
}

/** Copies returned files out of the temporary state folder. Throws the system's errors. */
async function keepFiles(played: readonly Played[], state: string, environment: Environment): Promise<void> {
  const from = attachmentsFolder({ ...environment, variables: { XDG_STATE_HOME: state } });
  const to = attachmentsFolder(environment);
  for (
    const name of new Set(
      played.flatMap(({ found, differs }) => differs.length > 0 && found !== null ? found.attachments : []),
    )
  ) {
    await Deno.mkdir(to, { recursive: true, mode: 0o700 });
    await replaceSmallFile(`${to}/${name}`, await Deno.readFile(`${from}/${name}`), { durable: true });
  }
}

function withoutAutopilot(overrides: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { tools } = overrides;
  return { ...overrides, tools: { ...isObject(tools) ? tools : {}, autopilot: { enabled: false } } };
}

/** Copies the folder with everything in it; links are copied as links. */
async function copyFolder(from: string, to: string): Promise<Outcome<void>> {
  const child = new Deno.Command("cp", { args: ["-a", "--", from, to], stdout: "null", stderr: "piped" });
  const { success: done, stderr } = await child.output();
  if (done) return success(undefined);
  const [line = "cp failed"] = new TextDecoder().decode(stderr).trim().split("\n");
  return failure("replay-copy", `${from} cannot be copied: ${line}.`);
}

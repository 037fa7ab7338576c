// Replays a conversation in a copy of its folder. Replies come from the document, and tools really run.

import { agreeToWorkFolder } from "../../../agent/trust/agreement.ts";
import { openChat } from "../../../agent/open.ts";
import type { ChatOptions, ChatSession } from "../../../agent/types.ts";
import type { SettingsHost } from "../../../agent/settings.ts";
import type { Environment } from "../../../base/environment.ts";
import { replaceSmallFile } from "../../../base/files.ts";
import { attachmentsFolder } from "../../../base/folders.ts";
import { absolutePath, isInside } from "../../../base/paths.ts";
import { isObject } from "../../../base/is_object.ts";
import { failed, failure, type Outcome, success } from "../../../base/problem.ts";
import { isLifecycle } from "../../../parser/text/status_words.ts";
import type { Chat } from "../../../parser/types.ts";
import { sayNext } from "../../../parser/edits/turn.ts";
import { writeResult } from "../../../parser/edits/placement.ts";
import { replayProvider } from "../../../providers/replay/provider.ts";
import { type Replay, startReplay } from "../../../providers/replay/server.ts";
import { differences } from "./compare.ts";
import { hadRun, type RecordedResult, type Recording, recordingOf } from "./recording.ts";

export interface Played {
  readonly recorded: RecordedResult;
  /** Lines of a diff; empty if the result is as recorded. */
  readonly differs: readonly string[];
  /** The new result; null for a call that did not run. */
  readonly found: ReplayedResult | null;
}

/** The result of a call that ran during the replay. */
export interface ReplayedResult {
  readonly content: string;
  readonly isError: boolean;
  readonly language: "" | "json";
  /** Names of the images and files that the tool returned. */
  readonly attachments: readonly string[];
}

export interface PlayOptions {
  readonly host: ChatOptions & SettingsHost;
  /** The folder to copy, which holds the document; the tools work in the copy. */
  readonly folder: string;
  readonly path: string;
  /** Real path of the working folder that the document names; null for its own. */
  readonly workFolder: string | null;
  /** True if returned images and files are saved in the person's state folder, because the document will name them. */
  readonly keepsFiles: boolean;
  /** True if the person allowed the tools to run without a sandbox. */
  readonly bare: boolean;
  /** True if requests that the provider would refuse are accepted. */
  readonly lenient: boolean;
  readonly signal: AbortSignal;
}

/**
 * Replays a conversation. The document is only read; tools work on a copy of the folder, which is removed
 * afterwards.
 */
export async function play(chat: Chat, options: PlayOptions): Promise<Outcome<readonly Played[]>> {
  const recording = recordingOf(chat);
  const room = await Deno.makeTempDir({ prefix: "flemma-replay-" });
  try {
    const copied = await copyFolder(options.folder, `${room}/folder`);
    if (!copied.ok) return copied;
    const path = `${room}/folder${options.path.slice(options.folder.length)}`;
    await Deno.writeFile(path, recording.beginning);
    const replies = recording.steps.flatMap((step) => step.do === "reply" ? [{ reply: step.blocks }] : []);
    await using replay = await startReplay({ replies }, { lenient: options.lenient });
    const inside = { ...options, path, folder: `${room}/folder`, original: options.folder };
    const played = await inCopy(recording, inside, replay, `${room}/state`);
    if (played.ok && options.keepsFiles) {
      await keepFiles(played.value, `${room}/state`, options.host.environment);
    }
    return played;
  } finally {
    await Deno.remove(room, { recursive: true });
  }
}

async function inCopy(
  recording: Recording,
  { host, folder, original, path, workFolder, bare, signal }: PlayOptions & { readonly original: string },
  replay: Replay,
  state: string,
): Promise<Outcome<readonly Played[]>> {
  // The state folder is temporary too, so nothing is written to the person's own.
  const variables = { ...host.environment.variables, XDG_STATE_HOME: state, XDG_RUNTIME_DIR: `${state}/run` };
  await Deno.mkdir(`${state}/run`, { recursive: true, mode: 0o700 });
  const { configPath = host.environment.variables.FLEMMA_CONFIG || undefined, ...named } = host.settings ??
    {};
  const environment = { ...host.environment, cwd: folder, variables };
  // Autopilot is off, because the recorded steps decide what comes next.
  const overrides = withoutAutopilot(named.overrides ?? {});
  // A relative settings path is resolved here, because the copy is in another folder.
  const from = configPath === undefined ? {} : { configPath: absolutePath(host.environment, configPath) };
  const settings = { ...named, ...from, overrides };
  if (workFolder !== null && isInside(workFolder, original)) {
    const agreed = await agreeToWorkFolder(
      environment,
      path,
      `${folder}${workFolder.slice(original.length)}`,
    );
    if (!agreed.ok) return agreed;
  }
  const provider = replayProvider(replay);
  const opened = await openChat(path, { ...host, settings, environment, provider, signal });
  if (!opened.ok) return opened;
  await using session = opened.value;
  const obstacle = await obstacleOf(session, bare);
  if (obstacle !== null) return obstacle;
  const played: Played[] = [];
  for (const step of recording.steps) {
    if (signal.aborted) return failure("cancelled", "The replay was stopped.");
    if (step.do === "reply") {
      const stop = await session.send();
      if (stop.problem !== undefined) return failed(stop.problem);
      if (!["done", "stepped", "cut"].includes(stop.reason)) {
        const message = `The reply in line ${step.line} cannot be replayed: ${stop.reason} (${
          stop.ids.join(", ")
        }).`;
        return failure(
          "replay-stopped",
          message,
          "Each call of the document needs a result before the next reply.",
        );
      }
    } else if (step.do === "say") {
      const problem = await session.edit([sayNext(session.chat, step.text)]);
      if (problem !== null) return failed(problem);
    } else {
      const result = await playResult(session, step.result, (text) => text.replaceAll(folder, original));
      if (!result.ok) return result;
      played.push(result.value);
    }
  }
  return success(played);
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

/** Returns why the replay may not run; null if it may. */
async function obstacleOf(session: ChatSession, bare: boolean): Promise<Outcome<never> | null> {
  const [blocker] = session.blockers;
  if (blocker !== undefined) return failure("first-block-invalid", blocker.message);
  if (bare) return null;
  const remedy = "Set up the sandbox, or run the tools without it: --no-sandbox.";
  if (!session.sandbox.enabled) {
    return failure(
      "sandbox-off",
      "The sandbox is off, and a replay really runs the document's calls.",
      remedy,
    );
  }
  const available = await session.sandbox.available();
  if (available.ok) return null;
  const { message, next = "Set up the sandbox." } = available.problem;
  return failure("sandbox-unusable", message, `${next} Or run the tools without it: --no-sandbox.`);
}

/**
 * Runs one call and compares its result. If the call had not run in the recording, it gets its recorded result instead.
 */
async function playResult(
  session: ChatSession,
  recorded: RecordedResult,
  asThere: (text: string) => string,
): Promise<Outcome<Played>> {
  const { id, content, isError } = recorded;
  const call = session.chat.call(id);
  if (call === undefined) {
    return failure(
      "replay-stopped",
      `The call ${id} is missing in the replay, so its result cannot be compared.`,
    );
  }
  if (!hadRun(recorded, await session.tool(recorded.name))) {
    const problem = await session.edit(
      writeResult(session.chat, call, { content, error: isError, language: "" }),
    );
    return problem === null ? success({ recorded, differs: [], found: null }) : failed(problem);
  }
  const stop = await session.execute(id);
  const result = session.chat.result(id);
  if (result === undefined || isLifecycle(result.status)) {
    return failed(
      stop.problem ??
        { code: "replay-stopped", message: `The call ${id} has no result (${stop.reason}).` },
    );
  }
  const found: ReplayedResult = {
    content: asThere(result.content),
    isError: result.status === "error",
    language: /^`+json\s*$/.test(session.chat.lineText(result.opener.start)) ? "json" : "",
    attachments: result.attachments,
  };
  return success({ recorded, differs: differences(recorded, found), found });
}

/** Copies the folder with everything in it; links are copied as links. */
async function copyFolder(from: string, to: string): Promise<Outcome<void>> {
  const child = new Deno.Command("cp", { args: ["-a", "--", from, to], stdout: "null", stderr: "piped" });
  const { success: done, stderr } = await child.output();
  if (done) return success(undefined);
  const [line = "cp failed"] = new TextDecoder().decode(stderr).trim().split("\n");
  return failure("replay-copy", `${from} cannot be copied: ${line}.`);
}

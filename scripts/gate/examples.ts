// Runs the examples of README and docs and compares their output with the page.
//
// A fence `console` has lines `$ command`, each followed by its output; a line `…` stands for any lines, and `…` inside
// a line for any text. A fence whose info string has `file=NAME` writes that file. A page's examples share one folder.
// The comment `<!-- replay: FILE -->` gives them a model that answers from a replay script.

import { documentationPages } from "./documentation.ts";
import { parseReplayScript, type Replay, startReplay } from "../../providers/replay/server.ts";

/** One fenced block of a page. */
export interface Fence {
  readonly info: string;
  readonly body: string;
  readonly line: number;
}

/** One command of a console block with the output shown on the page. */
export interface Example {
  readonly command: string;
  readonly output: readonly string[];
}

export function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  const lines = page.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const opener = /^(`{3,})([^`]*)$/.exec(lines[at]!);
    if (!opener) continue;
    const start = at + 1;
    while (++at < lines.length && !(lines[at]!.startsWith(opener[1]!) && /^`+\s*$/.test(lines[at]!)));
    fences.push({ info: opener[2]!.trim(), body: lines.slice(start, at).join("\n"), line: start });
  }
  return fences;
}

/** Splits a console block into commands; a trailing backslash continues a command. */
export function examplesOf(body: string): Example[] {
  const examples: { command: string; output: string[] }[] = [];
  let open = false;
  for (const line of body.split("\n")) {
    const last = examples.at(-1);
    if (open && last) last.command += `\n${line}`;
    else if (line.startsWith("$ ")) examples.push({ command: line.slice(2), output: [] });
    else if (last) last.output.push(line);
    open = open || line.startsWith("$ ") ? line.endsWith("\\") : false;
  }
  return examples;
}

/** True if the printed lines match those on the page. */
export function matches(shown: readonly string[], printed: readonly string[]): boolean {
  if (shown.length === 0) return printed.length === 0;
  const [first, ...rest] = shown;
  if (first === "…") {
    for (let skip = 0; skip <= printed.length; skip++) if (matches(rest, printed.slice(skip))) return true;
    return false;
  }
  if (printed.length === 0) return false;
  const pattern = first!.split("…").map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
  return new RegExp(`^${pattern}$`).test(printed[0]!) && matches(rest, printed.slice(1));
}

/**
 * Returns sentences about every example below `root` that differs from its page; `program` is the command that starts
 * the program.
 */
export async function checkExamples(root: string, program: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const page of await documentationPages(root)) faults.push(...await checkPage(root, page, program));
  return faults;
}

/** Returns the model for a page's examples; null if the page needs none. */
async function modelOf(root: string, text: string): Promise<Replay | null> {
  const file = /^<!-- replay: (\S+) -->$/m.exec(text)?.[1];
  if (file === undefined) return null;
  const script = await parseReplayScript(await Deno.readTextFile(`${root}/${file}`));
  if (!script.ok) throw new Error(`${file}: ${script.problem.message}`);
  return await startReplay(script.value);
}

/** Where the examples of a page run. */
export interface ExamplePlace {
  /** The folder around them. @default the one for temporary files */
  readonly dir?: string;
  /** Called with the folder of the examples after a fence wrote a file into it. */
  onFile?(folder: string): Promise<void>;
  /** Returns the command that runs an example elsewhere. */
  wrap?(command: readonly string[]): readonly string[];
}

/** Returns sentences about every example of one page that differs from it. */
export async function checkPage(
  root: string,
  page: string,
  program: readonly string[],
  { dir, onFile, wrap = (command) => command }: ExamplePlace = {},
): Promise<string[]> {
  const text = await Deno.readTextFile(`${root}/${page}`);
  const fences = fencesOf(text);
  if (!fences.some((fence) => fence.info === "console")) return [];
  await using model = await modelOf(root, text);
  const folder = await Deno.makeTempDir({ dir, prefix: "flemma-docs-" });
  const faults: string[] = [];
  try {
    for (const part of ["bin", "home", "place"]) await Deno.mkdir(`${folder}/${part}`);
    await Deno.writeTextFile(
      `${folder}/bin/flemma`,
      `#!/bin/sh\nexec ${program.map((word) => `'${word}'`).join(" ")} "$@"\n`,
      { mode: 0o755 },
    );
    // Programs on a page import the library by its name, as its users' programs do.
    await Deno.writeTextFile(
      `${folder}/bin/deno`,
      `#!/bin/sh\nverb=$1; shift\nexec "${Deno.execPath()}" "$verb" --quiet --config "${root}/deno.json" "$@"\n`,
      { mode: 0o755 },
    );
    for (const fence of fences) {
      const file = /(?:^|\s)file=(\S+)/.exec(fence.info)?.[1];
      if (file !== undefined) {
        await write(`${folder}/place/${file}`, `${fence.body}\n`);
        await onFile?.(folder);
      }
      if (fence.info !== "console") continue;
      for (const { command, output } of examplesOf(fence.body)) {
        const printed = await runExample(wrap(["sh", "-c", `exec 2>&1\n${command}`]), folder, model);
        if (!matches(output, printed)) {
          faults.push(`${page}:${fence.line}: \`${command}\` printed\n    ${printed.join("\n    ")}`);
        }
      }
    }
    for (const problem of model?.problems ?? []) faults.push(`${page}: a request was refused: ${problem}`);
    if (model !== null && model.remaining > 0) {
      faults.push(`${page}: ${model.remaining} replies were not asked for`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return faults;
}

async function runExample(
  [command = "", ...args]: readonly string[],
  folder: string,
  model: Replay | null,
): Promise<string[]> {
  const { stdout } = await new Deno.Command(command, {
    args,
    cwd: `${folder}/place`,
    clearEnv: true,
    env: {
      PATH: `${folder}/bin:${Deno.env.get("PATH") ?? ""}`,
      HOME: `${folder}/home`,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
      NO_COLOR: "1",
      LANG: "C.UTF-8",
      ...(model === null ? {} : { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" }),
    },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Writes a file and creates its folders. */
async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}

// Runs the program with its own folder, home, state and settings.

import assert from "node:assert/strict";
import { denoFolder, inFolder } from "../folder.ts";
import {
  type Finished,
  PROGRAM,
  runProgram,
  type Started,
  startProcess,
  type Surroundings,
} from "./program.ts";
import { testsWith } from "../tests_with.ts";

export { type Finished, PROGRAM, SOURCES, type Started } from "./program.ts";

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** An approval in a document, in either spelling. */
const APPROVED = /status=approved|\(approved\)/;

/** Settings by which every approval in a text counts, unless they say which ones do. */
export function countingApprovals(yaml: string): string {
  if (/\bapprovals\b/.test(yaml)) return yaml;
  // JSON is YAML in which a comma before the end is wrong.
  if (/^\s*\{[^]*\}\s*$/.test(yaml)) {
    const rest = yaml.trimStart().slice(1);
    return `{ "trust": { "approvals": "anywhere" }${/^\s*\}/.test(rest) ? "" : ","}${rest}`;
  }
  if (/^trust:\s*\{/m.test(yaml)) return yaml.replace(/^trust:\s*\{/m, "trust: { approvals: anywhere,");
  if (/^trust:\s*$/m.test(yaml)) return yaml.replace(/^trust:\s*$/m, "trust:\n  approvals: anywhere");
  return `${yaml.trimEnd()}\ntrust: { approvals: anywhere }\n`.trimStart();
}

export class Scene {
  readonly folder: string;
  /** The words that start the program. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string>>;

  constructor(folder: string, { program, path }: { program?: readonly string[]; path?: string } = {}) {
    this.folder = folder;
    this.program = program ?? PROGRAM;
    this.env = {
      PATH: path ?? Deno.env.get("PATH") ?? "/usr/bin:/bin",
      DENO_DIR: denoFolder(),
      HOME: `${folder}/home`,
      XDG_STATE_HOME: `${folder}/state`,
      XDG_CONFIG_HOME: `${folder}/config`,
      XDG_RUNTIME_DIR: `${folder}/run`,
      TMPDIR: `${folder}/tmp`,
    };
  }

  path(name: string): string {
    return `${this.folder}/place/${name}`;
  }

  /**
   * Writes a file. An approval in it counts, as if it was given here: what it does is tested in many places, where it
   * may come from in few. Those write with `arrive`.
   */
  write(name: string, content: string | Uint8Array): void {
    if (typeof content === "string" && APPROVED.test(content)) this.#countApprovals();
    this.arrive(name, content);
  }

  #countApprovals(): void {
    const file = `${this.folder}/config/flemma/config.yaml`;
    try {
      Deno.statSync(file);
    } catch {
      this.settings("");
    }
  }

  /** Writes a file as a copy, a pull or a synchronized folder would. */
  arrive(name: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    Deno.writeFileSync(this.path(name), bytes);
  }

  read(name: string): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Deno.readFileSync(this.path(name)));
  }

  exists(name: string): boolean {
    try {
      Deno.statSync(this.path(name));
      return true;
    } catch {
      return false;
    }
  }

  /** Writes the settings file. */
  settings(yaml: string): void {
    Deno.mkdirSync(`${this.folder}/config/flemma`, { recursive: true });
    Deno.writeTextFileSync(`${this.folder}/config/flemma/config.yaml`, countingApprovals(yaml));
  }

  /** Runs the program to its end; inside this process, unless all of its runs are to be processes. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return runProgram(args, this.#around(options));
  }

  /** Runs the program, which must end with this exit code. */
  async exits(code: number, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const finished = await this.run(args, options);
    assert.equal(finished.code, code, `${args.join(" ")}: ${finished.stderr}`);
    return finished;
  }

  /** Runs the program to its end as a process: for what only a process has, such as signals, descriptors and caches of its own. */
  process(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  start(args: readonly string[], options: RunOptions = {}): Started {
    return this.spawn([...this.program, ...args], options);
  }

  /** Runs a line of shell in which `flemma` is the program. */
  shell(line: string, options: RunOptions = {}): Promise<Finished> {
    const flemma = `flemma() { ${this.program.map((word) => `'${word}'`).join(" ")} "$@"; }`;
    return this.spawn(["/bin/sh", "-c", `${flemma}\n${line}`], options).finished;
  }

  /** Runs the program to its end as a process in another folder of the scene. */
  spawnIn(folder: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const cwd = `${this.folder}/${folder}`;
    Deno.mkdirSync(cwd, { recursive: true });
    return startProcess([...this.program, ...args], { ...this.#around(options), cwd }).finished;
  }

  spawn(words: readonly string[], options: RunOptions): Started {
    return startProcess(words, this.#around(options));
  }

  #around({ stdin, env = {} }: RunOptions): Surroundings {
    return { cwd: `${this.folder}/place`, variables: { ...this.env, ...env }, stdin };
  }

  /** Settles when a file of that name is there; fails when the process ends before. */
  async appears(name: string, started: Started): Promise<void> {
    let over: Finished | null = null;
    started.finished.then((finished) => over = finished);
    while (!this.exists(name)) {
      if (over !== null) assert.fail(`the process ended without ${name}: ${JSON.stringify(over)}`);
      await new Promise((done) => setTimeout(done, 5));
    }
  }
}

/** Runs `body` in a place that no sandbox makes writable by itself, as it does with all of `/tmp`. */
export async function withScene(body: (place: Scene) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    for (const name of ["home", "place", "run", "tmp"]) {
      await Deno.mkdir(`${folder}/${name}`, { mode: 0o700 });
    }
    await body(new Scene(folder));
  });
}

/** Defines a test that runs in `withScene`. */
export const testWithScene = testsWith(withScene);

export interface BashCall {
  readonly id: string;
  readonly command: string;
  /** Status of the block that stands there; none leaves the call open. */
  readonly status?: string;
}

/** A document with one question and a reply of bash calls. */
export function callsDocument(calls: readonly BashCall[]): string {
  const uses = calls.map(({ id, command }) => {
    return `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n${
      JSON.stringify({ command, timeout: null })
    }\n\`\`\`\n\n`;
  });
  const blocks = calls.flatMap(({ id, status }) =>
    status === undefined
      ? []
      : [`\n**Tool Result:** \`${id}\`\n\n\`\`\`flemma:tool status=${status}\n\`\`\`\n`]
  );
  const answer = blocks.length === 0 ? "" : `@You:\n${blocks.join("")}`;
  return `@You:\nPlease.\n\n@Assistant:\nI will.\n\n${uses.join("")}${answer}`;
}

/** A document with an approved call, and the answer to what its server asked. */
export function answeredDocument(id: string, answer: string): string {
  const questions = `\`\`\`yaml flemma:questions\nx: ${answer}\n\`\`\`\n`;
  return callsDocument([{ id, command: "one", status: "approved" }])
    .replace(
      "```flemma:tool status=approved\n```",
      `\`\`\`\`flemma:tool status=approved\n${questions}\`\`\`\``,
    );
}

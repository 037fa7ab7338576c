// Runs the program as a real process in a place of its own: folder, home, state, settings.

import { denoFolder, freshFolder, removeFolder } from "../folder.ts";
import assert from "node:assert/strict";

/** The words that start the program from its sources. */
export const SOURCES: readonly string[] = [
  Deno.execPath(),
  ...["run", "-A", "--quiet"],
  new URL("../../cli.ts", import.meta.url).pathname,
];

/**
 * The words that start the program which is tested: its sources, or what was made of them where `FLEMMA_TEST_PROGRAM`, a
 * list of words in JSON, says so (`deno task test-ways`).
 */
export const PROGRAM: readonly string[] = JSON.parse(
  Deno.env.get("FLEMMA_TEST_PROGRAM") ?? JSON.stringify(SOURCES),
);

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that was started and not waited for. */
export interface Started {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  kill(signal: Deno.Signal): void;
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

  write(name: string, content: string | Uint8Array): void {
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
    Deno.writeTextFileSync(`${this.folder}/config/flemma/config.yaml`, yaml);
  }

  start(args: readonly string[], options: RunOptions = {}): Started {
    return this.spawn([...this.program, ...args], options);
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  /** Runs a line of shell in which `flemma` is the program. */
  shell(line: string, options: RunOptions = {}): Promise<Finished> {
    const flemma = `flemma() { ${this.program.map((word) => `'${word}'`).join(" ")} "$@"; }`;
    return this.spawn(["/bin/sh", "-c", `${flemma}\n${line}`], options).finished;
  }

  spawn([program = "", ...args]: readonly string[], { stdin, env = {} }: RunOptions): Started {
    const child = new Deno.Command(program, {
      args,
      cwd: `${this.folder}/place`,
      clearEnv: true,
      env: { ...this.env, ...env },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const fed = stdin === undefined ? Promise.resolve() : feed(child.stdin, stdin);
    const finished = Promise.all([child.output(), fed]).then(([output]) => ({
      code: output.code,
      stdout: new TextDecoder("utf-8", { ignoreBOM: true }).decode(output.stdout),
      stderr: new TextDecoder().decode(output.stderr),
    }));
    return { pid: child.pid, finished, kill: (signal) => child.kill(signal) };
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
  const folder = await freshFolder("flemma-cli-");
  try {
    for (const name of ["home", "place", "run", "tmp"]) {
      await Deno.mkdir(`${folder}/${name}`, { mode: 0o700 });
    }
    await body(new Scene(folder));
  } finally {
    await removeFolder(folder);
  }
}

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

async function feed(stream: WritableStream<Uint8Array>, data: string | Uint8Array): Promise<void> {
  const writer = stream.getWriter();
  try {
    await writer.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
    await writer.close();
  } catch {
    // The program may end, or be ended, before it read everything; its own output is what tests look at.
  }
}

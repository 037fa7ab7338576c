// Runs the program inside the test's own process, with a folder, variables and standard streams for each run.

import { AsyncLocalStorage } from "node:async_hooks";
import { isAbsolute, join } from "node:path";
import { start } from "../../commands/start/start.ts";

/** What a run of the program finds around it. */
interface Surroundings {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Standard input; null is the null device. */
  readonly input: Uint8Array | null;
}

/** What came of a run. */
interface Outcome {
  readonly code: number;
  readonly output: Uint8Array;
  readonly errors: Uint8Array;
}

/** One run: the state behind what stands for the process. */
class Run {
  readonly cwd: string;
  readonly variables: Record<string, string>;
  readonly input: Uint8Array | null;
  readonly output: Uint8Array[] = [];
  readonly errors: Uint8Array[] = [];
  isOver = false;
  #at = 0;

  constructor({ cwd, variables, input }: Surroundings) {
    this.cwd = cwd;
    this.variables = { ...variables };
    this.input = input;
  }

  read(piece: Uint8Array): number | null {
    const left = this.input?.subarray(this.#at, this.#at + piece.length) ?? new Uint8Array(0);
    if (left.length === 0) return null;
    piece.set(left);
    this.#at += left.length;
    return left.length;
  }
}

const runs = new AsyncLocalStorage<Run>();

/** The run that asks; the test runner keeps the context of a run that is over. */
function current(): Run | undefined {
  const run = runs.getStore();
  return run?.isOver === false ? run : undefined;
}

/** Runs the program with these words; several runs may go on together. */
export async function runInside(words: readonly string[], surroundings: Surroundings): Promise<Outcome> {
  standIn();
  const run = new Run(surroundings);
  const code = await runs.run(run, () => start(words)).finally(() => run.isOver = true);
  return { code, output: joined(run.output), errors: joined(run.errors) };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

let isStandingIn = false;

/** Puts what asks for the current run in the place of what asks for the process; outside of a run nothing changes. */
function standIn(): void {
  if (isStandingIn) return;
  isStandingIn = true;
  const runtime = Deno as unknown as Record<string, unknown>;
  const replace = (name: string, value: unknown) => Object.defineProperty(runtime, name, { value });
  const { cwd, exit, Command } = Deno;
  replace("cwd", () => current()?.cwd ?? cwd());
  replace("exit", (code: number) => {
    if (current() === undefined) exit(code);
    throw new Error(`the program ends itself with ${code}: such a test needs a process`);
  });
  replace("env", environment(Deno.env));
  replace("stdin", input(Deno.stdin));
  replace("stdout", output(Deno.stdout, (run) => run.output));
  replace("stderr", output(Deno.stderr, (run) => run.errors));
  replace("Command", commands(Command));
  for (const name of [...ONE_PATH, ...TWO_PATHS, ...SECOND_PATH, ...IN_FOLDER]) replace(name, placed(name));
}

/** Functions of the runtime whose first word is a path. */
const ONE_PATH = [
  ...["chmod", "chown", "lstat", "mkdir", "open", "readDir", "readFile", "readLink", "readTextFile"],
  ...["realPath", "remove", "stat", "truncate", "utime", "writeFile", "writeTextFile"],
].flatMap((name) => [name, `${name}Sync`]);

const TWO_PATHS = ["copyFile", "link", "rename"].flatMap((name) => [name, `${name}Sync`]);

/** The first word of these is what the link says, whatever that is relative to. */
const SECOND_PATH = ["symlink", "symlinkSync"];

const IN_FOLDER = ["makeTempDir", "makeTempFile"].flatMap((name) => [name, `${name}Sync`]);

type Anything = (...words: unknown[]) => unknown;

/** A function for files that takes paths as relative to the run's folder. */
function placed(name: string): Anything {
  const real = (Deno as unknown as Record<string, Anything>)[name]!;
  return (...words) => {
    const run = current();
    if (run === undefined) return real(...words);
    const descriptor = /^(?:\/proc\/self|\/dev)\/fd\/([012])$/.exec(String(words[0]))?.[1];
    if (descriptor !== undefined) return ofStream(run, Number(descriptor), real, words);
    if (IN_FOLDER.includes(name)) {
      return real({ dir: run.variables.TMPDIR, ...words[0] as Deno.MakeTempOptions });
    }
    const places = TWO_PATHS.includes(name) ? [0, 1] : SECOND_PATH.includes(name) ? [1] : [0];
    return real(...words.map((word, index) => places.includes(index) ? absolute(run, word) : word));
  };
}

function absolute({ cwd }: Run, path: unknown): unknown {
  return typeof path === "string" && path !== "" && !isAbsolute(path) ? join(cwd, path) : path;
}

/** What stands for the descriptor of a standard stream: a pipe each, or the null device where nothing is to be read. */
function ofStream({ input }: Run, descriptor: number, real: Anything, words: readonly unknown[]): unknown {
  if (descriptor === 0 && input === null) return real("/dev/null", ...words.slice(1));
  return { ...Deno.statSync("/"), isDirectory: false, isFile: false, isFifo: true, dev: -1, ino: descriptor };
}

function environment(real: Deno.Env): Deno.Env {
  const variables = () => current()?.variables;
  return {
    get: (name) => (variables() ?? real.toObject())[name],
    has: (name) => Object.hasOwn(variables() ?? real.toObject(), name),
    toObject: () => ({ ...variables() ?? real.toObject() }),
    set(name, value) {
      const own = variables();
      if (own === undefined) real.set(name, value);
      else own[name] = value;
    },
    delete(name) {
      const own = variables();
      if (own === undefined) real.delete(name);
      else delete own[name];
    },
  };
}

function input(real: typeof Deno.stdin): typeof Deno.stdin {
  return over(real, {
    read: (piece: Uint8Array) => {
      const run = current();
      return run === undefined ? real.read(piece) : Promise.resolve(run.read(piece));
    },
    readSync: (piece: Uint8Array) => {
      const run = current();
      return run === undefined ? real.readSync(piece) : run.read(piece);
    },
    isTerminal: () => current() === undefined && real.isTerminal(),
  });
}

function output(real: typeof Deno.stdout, pieces: (run: Run) => Uint8Array[]): typeof Deno.stdout {
  const write = (piece: Uint8Array) => {
    const run = current();
    if (run === undefined) return real.writeSync(piece);
    pieces(run).push(piece.slice());
    return piece.length;
  };
  return over(real, {
    write: (piece: Uint8Array) => Promise.resolve(write(piece)),
    writeSync: write,
    isTerminal: () => current() === undefined && real.isTerminal(),
  });
}

/** An object with some members of its own, and all others those of another. */
function over<T extends object>(real: T, own: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(name in own ? own : target, name);
      return typeof value === "function" && !(name in own) ? value.bind(target) : value;
    },
  });
}

/** Commands that stand where the run stands, and have its variables. */
function commands(real: typeof Deno.Command): typeof Deno.Command {
  return class extends real {
    constructor(program: string | URL, options: Deno.CommandOptions = {}) {
      super(program, around(options));
    }
  };
}

function around(options: Deno.CommandOptions): Deno.CommandOptions {
  const run = current();
  if (run === undefined) return options;
  const env = options.clearEnv ? options.env : { ...run.variables, ...options.env };
  return { ...options, cwd: absolute(run, options.cwd ?? run.cwd) as string, clearEnv: true, env };
}

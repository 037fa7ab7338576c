// The npm package, built and installed in a fresh folder.

import assert from "node:assert/strict";
import { buildPackages } from "../../scripts/build/npm.ts";
import { inFolder } from "../folder.ts";

export interface Installed {
  /** The folder of the project that has the package. */
  readonly folder: string;
  /** The home folder of its programs. */
  readonly home: string;
  /** Runs a program in the folder of the project. */
  run(words: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Starts a program in the folder of the project. Its output is piped. */
  start(words: readonly string[], options?: RunOptions): Deno.ChildProcess;
}

/** Milliseconds after which a program that still runs is killed. */
const LIMIT = 240_000;

export interface RunOptions {
  /** True for a program without network. */
  readonly offline?: boolean;
  readonly path?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Standard input. @default nothing */
  readonly input?: string;
}

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/**
 * Builds the packages, and installs one in a folder with blanks in its path, as npm does where scripts are forbidden.
 *
 * @param more other packages to install
 */
export async function withPackage(
  body: (packages: string, installed: Installed) => Promise<void>,
  more: readonly string[] = [],
): Promise<void> {
  await inFolder(async (root) => {
    const [built] = await buildPackages(`${root}/built`);
    const folder = `${root}/a project's folder`;
    for (const name of [folder, `${root}/home`, `${root}/tmp`]) await Deno.mkdir(name, { mode: 0o700 });
    const env = {
      HOME: `${root}/home`,
      TMPDIR: `${root}/tmp`,
      npm_config_cache: Deno.env.get("npm_config_cache") ?? `${Deno.env.get("HOME")}/.npm`,
      npm_config_update_notifier: "false",
    };
    const start = (words: readonly string[], options: RunOptions = {}) => {
      const { offline = false, path = Deno.env.get("PATH")!, variables = {}, input } = options;
      const sandboxes = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
      const [program = "", ...args] = offline ? [...sandboxes, ...words] : words;
      const child = new Deno.Command(program, {
        args,
        cwd: folder,
        clearEnv: true,
        env: { ...env, PATH: path, ...variables },
        stdin: input === undefined ? "null" : "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      // A program that hangs fails its test, and not all tests.
      const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT);
      void child.status.finally(() => clearTimeout(limit));
      return child;
    };
    const run = async (words: readonly string[], options: RunOptions = {}) => {
      const child = start(words, options);
      if (options.input !== undefined) await new Response(options.input).body!.pipeTo(child.stdin);
      const { code, stdout, stderr } = await child.output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, out: text(stdout), error: text(stderr) };
    };
    const packed = await run(["npm", "pack", "--silent", "--pack-destination", `${root}/tmp`, built!]);
    assert.equal(packed.code, 0, packed.error);
    const archive = `${root}/tmp/${packed.out.trim()}`;
    await Deno.writeTextFile(`${folder}/package.json`, '{"name":"somebody","private":true,"type":"module"}');
    const flags = [
      "--ignore-scripts",
      "@codemirror/language",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ];
    const { code, out, error } = await run(["npm", "install", ...flags, ...more, archive]);
    assert.equal(code, 0, out + error);
    await body(`${root}/built`, { folder, home: env.HOME, run, start });
  });
}

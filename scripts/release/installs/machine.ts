// A machine like that of a new user: an empty home, and only the given programs on the PATH.

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Commands with the paths of their programs. */
export type Programs = Readonly<Record<string, string>>;

export interface Machine {
  /** Folder that contains `home`, with `project` in it, and nothing else. Its path has blanks. */
  readonly root: string;
  readonly home: string;
  readonly project: string;
  /**
   * Runs a program in a folder, by default `project`.
   * @param options.offline without any network
   */
  run(
    words: readonly string[],
    options?: { offline?: boolean; folder?: string; input?: string },
  ): Promise<Finished>;
}

/**
 * Matches package managers and script runtimes of this system. They are left out, because they would take the place of
 * programs that the user does not have.
 */
const LEFT_OUT = /^(node|nodejs|npm|npx|corepack|pnpm|pnpx|yarn|yarnpkg|bun|bunx|deno|flemma)$/;

/** Programs of a bare machine in addition to its tools: those that the launcher and the demo's commands need. */
const BARE = ["sh", "readlink", "uname", "env", "bash", "cat"];

/**
 * Creates a machine, passes it to `body` and removes it.
 * @param place.programs commands that come first on the PATH, each with the path of its program
 * @param place.registry the registry of the user's npm
 * @param place.bare whether the system has almost no programs, and no bubblewrap
 */
export async function withMachine<Result>(
  place: { readonly programs: Programs; readonly registry: string; readonly bare?: boolean },
  body: (machine: Machine) => Promise<Result>,
): Promise<Result> {
  // The folder is not below /tmp, because every sandbox makes /tmp writable.
  const root = await Deno.makeTempDir({ dir: await Deno.realPath("/var/tmp"), prefix: "flemma installs " });
  try {
    const home = `${root}/a person's home`;
    const project = `${home}/my project`;
    for (const folder of [home, project, `${root}/tmp`, `${root}/bin`, `${root}/system`]) {
      await Deno.mkdir(folder, { mode: 0o700 });
    }
    await Deno.writeTextFile(
      `${home}/.npmrc`,
      `registry=${place.registry}/\nprefix=${home}/.global\nupdate-notifier=false\naudit=false\nfund=false\n`,
    );
    for (const [command, program] of Object.entries(place.programs)) {
      await put(program, `${root}/bin/${command}`);
    }
    for (const { name } of place.bare ? BARE.map((name) => ({ name })) : Deno.readDirSync("/usr/bin")) {
      if (!LEFT_OUT.test(name)) await Deno.symlink(`/usr/bin/${name}`, `${root}/system/${name}`);
    }
    const env = environment(root, home, place.registry);
    return await body({
      root,
      home,
      project,
      run: (words, { offline = false, folder = project, input } = {}) =>
        finished(offline ? [...WITHOUT_NETWORK, "--", ...words] : words, folder, env, input),
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** Creates a command. The machine's Node starts scripts for Node. */
async function put(program: string, command: string): Promise<void> {
  const real = await Deno.realPath(program);
  if (/\.c?js$/.test(real)) {
    await Deno.writeTextFile(command, `#!/bin/sh\nexec node '${real}' "$@"\n`, { mode: 0o755 });
  } else await Deno.symlink(real, command);
}

const WITHOUT_NETWORK = ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"];

function environment(root: string, home: string, registry: string): Record<string, string> {
  const global = [
    `${home}/.global/bin`,
    `${home}/.pnpm`,
    `${home}/.pnpm/bin`,
    `${home}/.bun/bin`,
    `${home}/.yarn/bin`,
  ];
  return {
    HOME: home,
    PATH: [...global, `${root}/bin`, `${root}/system`].join(":"),
    TMPDIR: `${root}/tmp`,
    LANG: "C.UTF-8",
    PNPM_HOME: `${home}/.pnpm`,
    // Yarn does not read .npmrc, and accepts a registry without TLS only with this setting.
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_ENABLE_TELEMETRY: "0",
    BUN_INSTALL: `${home}/.bun`,
    DO_NOT_TRACK: "1",
    CI: "1",
  };
}

async function finished(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Finished> {
  const child = new Deno.Command(program.includes("/") ? program : "/usr/bin/env", {
    args: program.includes("/") ? args : [program, ...args],
    cwd,
    clearEnv: true,
    env: { ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ code, stdout, stderr }] = await Promise.all([
    child.output(),
    // A program that reads no input may end before all of it is written.
    new Blob([input]).stream().pipeTo(child.stdin).catch(() => {}),
  ]);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), error: text(stderr) };
}

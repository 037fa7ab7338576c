// Builds the current releases of editors for the slow tests, from Debian's next release: `deno run -A tests/editors/current.ts`.
//
// It takes 5 to 20 minutes (615 seconds while both processors were busy) and 1 GB. Tests use what is in the folder: $FLEMMA_TEST_EDITORS, else
// flemma-tests/editors in the user's cache folder. Delete the folder to build them again.

import { print } from "../../scripts/gate/root.ts";

/** Debian's packages of the editors, and what they are called when they run. */
const PACKAGES = ["neovim", "vim", "kakoune", "emacs-nox", "hx"];

export function editorsFolder(): string {
  const home = Deno.env.get("HOME") ?? "/root";
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${home}/.cache`;
  return Deno.env.get("FLEMMA_TEST_EDITORS") ?? `${cache}/flemma-tests/editors`;
}

/** Returns the folder with the current releases' programs; null without a complete build, whose last file is that of Emacs. */
export function currentEditors(folder: string = editorsFolder()): string | null {
  try {
    return Deno.statSync(`${folder}/bin/emacs`).isFile ? `${folder}/bin` : null;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** Returns which editors the tests start with a `PATH`, one line. */
export async function releases(path: string): Promise<string> {
  const found = await Promise.all(["vim", "nvim", "kak", "emacs", "hx"].map(async (name) => {
    const args = ["-c", `${name} ${name === "kak" ? "-version" : "--version"} 2>/dev/null | head -n 1`];
    const { stdout } = await new Deno.Command("/bin/sh", { args, env: { PATH: path }, stdin: "null" })
      .output();
    return new TextDecoder().decode(stdout).replace(/ \(.*/, "").trim() || `no ${name}`;
  }));
  return found.join(", ");
}

/** Returns the address of the Debian mirror in the texts of apt's sources; null if they name none. */
export function debianMirror(sources: readonly string[]): string | null {
  for (const line of sources.join("\n").split("\n")) {
    const [, address] = /^(?:deb(?:\s+\[[^\]]*\])?|URIs:)\s+(https?:\/\/\S+\/debian)\/?(?:\s|$)/.exec(line) ??
      [];
    if (address !== undefined) return address;
  }
  return null;
}

/** Runs a program; throws with the end of its output if it fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], stdin: "null" })
    .output();
  const said = new TextDecoder().decode(stdout).trim();
  if (success) return said;
  const lines = `${new TextDecoder().decode(stderr)}${said}`.trim().split("\n");
  throw new Error(`${program} failed: ${lines.slice(-5).join("\n")}`);
}

/** Returns what is missing for a build, as a sentence; null if nothing is. */
async function missing(mirror: string | null): Promise<string | null> {
  if (Deno.uid() !== 0) return "Building editors needs root, because debootstrap does.";
  for (const program of ["debootstrap", "patchelf"]) {
    const { success } = await new Deno.Command("/bin/sh", {
      args: ["-c", `command -v ${program}`],
      stdout: "null",
    })
      .output();
    if (!success) return `${program} is missing: apt-get update && apt-get install -y debootstrap patchelf`;
  }
  return mirror === null ? "apt's sources name no Debian mirror." : null;
}

/** The one path that a pattern of the shell matches. */
async function only(pattern: string): Promise<string> {
  return await run("/bin/sh", "-c", `set -- ${pattern}; test -e "$1" && printf %s "$1"`);
}

async function build(folder: string, mirror: string): Promise<void> {
  const root = `${folder}/debian`;
  await Deno.mkdir(`${folder}/bin`, { recursive: true });
  await run("debootstrap", "--variant=minbase", `--include=${PACKAGES.join(",")}`, "testing", root, mirror);
  await run(
    "rm",
    "-rf",
    `${root}/var/cache`,
    `${root}/var/lib/apt`,
    `${root}/usr/share/doc`,
    `${root}/usr/share/locale`,
  );
  const share = `${root}/usr/share`;
  const version = (await only(`${share}/emacs/[0-9]*.[0-9]*`)).split("/").at(-1)!;
  const helpers = await only(`${root}/usr/libexec/emacs/${version}/*-linux-gnu`);
  const lisp = `${share}/emacs/${version}/lisp`;
  const folders = await run("find", lisp, "-maxdepth", "1", "-type", "d", "!", "-name", "obsolete");
  // Emacs looks for its compiled Lisp there.
  await Deno.symlink(`lib/emacs/${version}/native-lisp`, `${root}/usr/native-lisp`);
  const rows: readonly (readonly [string, string, Record<string, string>, string?])[] = [
    ["vim", "usr/bin/vim.basic", { VIMRUNTIME: await only(`${share}/vim/vim[0-9]*`) }],
    ["nvim", "usr/bin/nvim", { VIMRUNTIME: `${share}/nvim/runtime` }],
    ["kak", "usr/bin/kak", { KAKOUNE_RUNTIME: `${share}/kak` }],
    ["hx", "usr/lib/hx/hx", { HELIX_RUNTIME: `${root}/usr/lib/hx/runtime` }],
    ["emacs", "usr/bin/emacs-nox", {
      EMACSDATA: `${share}/emacs/${version}/etc`,
      EMACSPATH: helpers,
      EMACSLOADPATH: folders.split("\n").join(":"),
    }, `--dump-file="${await only(`${helpers}/*.pdmp`)}" `],
  ];
  for (const [name, path, env, option = ""] of rows) {
    await adoptLibraries(`${root}/${path}`, root);
    const exports = Object.entries(env).map(([key, value]) => `export ${key}='${value}'\n`).join("");
    await Deno.writeTextFile(
      `${folder}/bin/${name}`,
      `#!/bin/sh\n${exports}exec '${root}/${path}' ${option}"$@"\n`,
    );
    await Deno.chmod(`${folder}/bin/${name}`, 0o755);
  }
}

/** Lets a program use the loader and the libraries of its own system, so that it runs without a chroot. */
async function adoptLibraries(program: string, root: string): Promise<void> {
  const loader = await run("patchelf", "--print-interpreter", program);
  const libraries = await only(`${root}/usr/lib/*-linux-gnu`);
  await run(
    "patchelf",
    "--set-interpreter",
    `${root}${loader}`,
    "--force-rpath",
    "--set-rpath",
    libraries,
    program,
  );
}

if (import.meta.main) {
  const folder = editorsFolder();
  if (currentEditors(folder) === null) {
    const mirror = debianMirror([
      await run("/bin/sh", "-c", "cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null; true"),
    ]);
    const lack = await missing(mirror);
    if (lack !== null) {
      print(lack);
      Deno.exit(1);
    }
    const begun = Date.now();
    // An earlier build was interrupted.
    await run("rm", "-rf", folder);
    await build(folder, mirror!);
    print(`Built in ${Math.round((Date.now() - begun) / 1000)} seconds.`);
  }
  print(`${folder}: ${await releases(`${folder}/bin:${Deno.env.get("PATH")}`)}`);
}

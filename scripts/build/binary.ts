// Compiles one binary: the bundle and a base of Deno's runtime in one file.

import { print, ROOT } from "../gate/root.ts";
import { bundleProgram } from "./bundle.ts";
import { versioned } from "./versioned.ts";

interface Target {
  /** Bytes at fixed offsets that identify programs for this target. */
  readonly signs: readonly { readonly at: number; readonly bytes: readonly number[] }[];
  readonly system: string;
}

const ELF = { at: 0, bytes: [0x7f, 0x45, 0x4c, 0x46] };
const MACH_O = [0xcf, 0xfa, 0xed, 0xfe];

/** Possible targets, by Deno's names. */
const TARGETS: Readonly<Record<string, Target>> = {
  "x86_64-unknown-linux-gnu": { signs: [ELF, { at: 18, bytes: [0x3e, 0] }], system: "linux x86_64" },
  "aarch64-unknown-linux-gnu": { signs: [ELF, { at: 18, bytes: [0xb7, 0] }], system: "linux aarch64" },
  "x86_64-apple-darwin": { signs: [{ at: 0, bytes: [...MACH_O, 7, 0, 0, 1] }], system: "darwin x86_64" },
  "aarch64-apple-darwin": { signs: [{ at: 0, bytes: [...MACH_O, 12, 0, 0, 1] }], system: "darwin aarch64" },
  "x86_64-pc-windows-msvc": { signs: [{ at: 0, bytes: [0x4d, 0x5a] }], system: "windows x86_64" },
};

/** The arguments of `scripts/compile`. */
const USAGE = `scripts/compile [TARGET] [FILE]; TARGET is one of ${Object.keys(TARGETS).join(", ")}`;

/** True if the target exists; the empty name means this machine. */
function isTarget(name: string): boolean {
  return name === "" || Object.hasOwn(TARGETS, name);
}

export interface Compiling {
  /** The folder of the bundle: `flemma.js` and its parts, without other files that Deno would read. */
  readonly bundle: string;
  /** Name of the target; empty for this machine. */
  readonly target: string;
  /** Absolute path of the binary. */
  readonly file: string;
  /** Path of the Deno that compiles; its version is that of the base. */
  readonly deno: string;
  /** Path of an existing base. Without one, Deno downloads its own base from its own host. */
  readonly base: string | undefined;
}

/**
 * Compiles the binary and checks it. A binary for this machine is run; one for another machine must be a program for
 * that machine. Returns null, or a sentence about what went wrong, in which case there is no file.
 */
export async function compileProgram(
  { bundle, target, file, deno, base }: Compiling,
): Promise<string | null> {
  const parts = Array.from(Deno.readDirSync(bundle), ({ name }) => name).find((name) =>
    name.startsWith("flemma-")
  );
  if (parts === undefined) return `There is no bundle in ${bundle}.`;
  const work = await Deno.makeTempDir({ prefix: "flemma-compile-" });
  try {
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    const flags = ["-A", "--no-check", "--no-config", "--no-code-cache", "--quiet"];
    const { success, stderr } = await new Deno.Command(deno, {
      args: [
        ...["compile", ...flags, ...(target === "" ? [] : ["--target", target])],
        ...["--include", parts, "-o", `${work}/made`, "flemma.js"],
      ],
      cwd: bundle,
      env: { NO_COLOR: "1", ...(base === undefined ? {} : { DENORT_BIN: base }) },
      stdin: "null",
    }).output();
    const made = await firstThere([`${work}/made`, `${work}/made.exe`]);
    if (!success || made === null) {
      return `There is no base for ${target || "this machine"}: ${
        causeIn(new TextDecoder().decode(stderr))
      }.\n` +
        "  Set DENORT_BIN to a base, and COMPILE_DENO to the Deno of the same version.";
    }
    const wrong = await whatIsWrong(made, target, parts);
    if (wrong !== null) return wrong;
    await Deno.copyFile(made, file);
    await Deno.chmod(file, 0o755);
    return null;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Runs `scripts/compile` with its arguments; returns the exit code. */
export async function compileCommand(words: readonly string[]): Promise<number> {
  const [target = "", given] = words;
  const file = given ?? `${ROOT}/dist/compiled/flemma${target.includes("windows") ? ".exe" : ""}`;
  if (!isTarget(target) || words.length > 2) {
    tell(USAGE);
    return 2;
  }
  // The bundle is copied to a separate folder, because a package.json or Deno's settings next to it would be compiled
  // in too.
  const bundle = await Deno.makeTempDir({ prefix: "flemma-bundle-" });
  const wrong = await bundleProgram(`${bundle}/flemma.js`)
    .then(() => versioned(`${bundle}/flemma.js`))
    .then(() =>
      compileProgram({
        bundle,
        target,
        file: file.startsWith("/") ? file : `${Deno.cwd()}/${file}`,
        deno: Deno.env.get("COMPILE_DENO") ?? Deno.execPath(),
        base: Deno.env.get("DENORT_BIN"),
      })
    )
    .finally(() => Deno.remove(bundle, { recursive: true }));
  if (wrong === null) print(file);
  else tell(`scripts/compile: ${wrong}`);
  return wrong === null ? 0 : 1;
}

function tell(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Returns the innermost message of a `deno compile` failure that is informative. */
function causeIn(stderr: string): string {
  const [stated = ""] = stderr.split("\n\nStack backtrace");
  const causes = stated.split(/Caused by:/).at(-1)!.split("\n").map((line) =>
    line.trim().replace(/^\d+: |^error: /, "")
  );
  return causes.filter((line) => line !== "").slice(0, 2).join(" ").replace(/\.$/, "");
}

/** Returns why a file is not the intended binary; null if it is. */
async function whatIsWrong(made: string, target: string, parts: string): Promise<string | null> {
  const here = Object.keys(TARGETS).find((name) =>
    TARGETS[name]!.system === `${Deno.build.os} ${Deno.build.arch}`
  );
  const wanted = target === "" ? here : target;
  const bytes = await Deno.readFile(made);
  if (wanted !== undefined) {
    const { signs } = TARGETS[wanted]!;
    if (!signs.every(({ at, bytes: sign }) => sign.every((byte, index) => bytes[at + index] === byte))) {
      return `The result is not a program for ${wanted}: the base is for another machine.`;
    }
  }
  if (!holds(bytes, new TextEncoder().encode(parts))) {
    return "The result does not contain the program.";
  }
  if (wanted !== here) return null;
  // With the wrong kind of base, the result is only Deno itself.
  const { stdout } = await new Deno.Command(made, { args: ["--version"], stdin: "null", stderr: "null" })
    .output();
  return new TextDecoder().decode(stdout).startsWith("flemma ")
    ? null
    : "The result is not flemma: the named base is not a base for binaries.";
}

/** True if the bytes contain others. They are searched from the end, because compiled code follows the base. */
function holds(bytes: Uint8Array, wanted: Uint8Array): boolean {
  for (let at = bytes.length - wanted.length; at >= 0; at--) {
    at = bytes.lastIndexOf(wanted[0]!, at);
    if (at < 0) return false;
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return true;
  }
  return false;
}

async function firstThere(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    try {
      if ((await Deno.stat(path)).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

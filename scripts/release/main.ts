// Releases: `deno task release …`. Publishes nothing; the output ends with the next steps.

import { parseArgs } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import { print, ROOT } from "../gate/root.ts";
import type { Origin } from "./make.ts";
import { isMaintainer, type Runtime } from "./packages/debian.ts";
import { formula, isAddress } from "./packages/formula.ts";
import { needsOf } from "./packages/elf.ts";
import { git } from "./packages/run.ts";
import { type Checkout, type Obstacle, obstaclesToPrepare, obstaclesToRelease } from "./ready.ts";
import { withVersion } from "./version.ts";

const HELP = `deno task release prepare VERSION
    Moves the unreleased changes in CHANGELOG.md to VERSION, and writes VERSION to deno.json and the editors' files.
deno task release make --homepage ADDRESS --address ADDRESS --maintainer 'NAME <MAIL>'
                       [--deno FILE | --binary FILE] [--output FOLDER] [--dry-run]
    Makes the files of a release in FOLDER (default: dist/release): packages for npm and Debian, an archive, a formula for
    Homebrew, the bill of materials, licenses, changes and checksums. --address is the folder they will be downloaded from.
    The Debian package includes the Deno or the compiled program that you name; without one it needs Deno on the PATH.
    --dry-run makes the files, prints their names, sizes and checksums, and deletes them.
deno task release formula --homepage ADDRESS --address ADDRESS --checksum SHA256 [--version VERSION]
    Prints the formula for an existing archive.
`;

/** Error for invalid arguments. */
export class Unusable extends Error {}

const OPTIONS = {
  homepage: { type: "string" },
  address: { type: "string" },
  maintainer: { type: "string" },
  deno: { type: "string" },
  binary: { type: "string" },
  output: { type: "string" },
  checksum: { type: "string" },
  version: { type: "string" },
  "dry-run": { type: "boolean" },
} as const;

type Given = { readonly [Name in keyof typeof OPTIONS]?: string | boolean | undefined };

/** The options and words that each command accepts. */
const COMMANDS: Readonly<Record<string, { readonly options: readonly string[]; readonly words: number }>> = {
  prepare: { options: [], words: 1 },
  make: { options: ["homepage", "address", "maintainer", "deno", "binary", "output", "dry-run"], words: 0 },
  formula: { options: ["homepage", "address", "checksum", "version"], words: 0 },
};

/**
 * Runs a command; returns the exit code: 0, or 1 if the checkout cannot be released.
 * @throws {Unusable} if the arguments are invalid; nothing was done then
 */
export async function run(args: readonly string[]): Promise<number> {
  const { command, words, given } = read(args);
  if (command === "prepare") return await prepare(words[0]!);
  if (command === "make") return await make(given);
  print(formulaOf(given).trimEnd());
  return 0;
}

function read(args: readonly string[]): { command: string; words: readonly string[]; given: Given } {
  const [command = "", ...rest] = args;
  const known = Object.hasOwn(COMMANDS, command) ? COMMANDS[command]! : null;
  if (known === null) {
    throw new Unusable(command === "" ? "Name a command." : `"${command}" is not a command.`);
  }
  let parsed;
  try {
    parsed = parseArgs({ args: rest, options: OPTIONS, allowPositionals: true });
  } catch (thrown) {
    throw new Unusable((thrown as Error).message);
  }
  const { values, positionals } = parsed;
  const other = Object.keys(values).find((name) => !known.options.includes(name));
  if (other !== undefined) throw new Unusable(`--${other} is not an option of ${command}.`);
  if (positionals.length !== known.words) {
    throw new Unusable(
      known.words === 0 ? `${command} takes no "${positionals[0]}".` : `${command} takes one version.`,
    );
  }
  return { command, words: positionals, given: values };
}

async function checkout(): Promise<Checkout> {
  return {
    changes: await git(ROOT, "status", "--porcelain"),
    version: manifest.version,
    changelog: await Deno.readTextFile(`${ROOT}/CHANGELOG.md`),
    tags: (await git(ROOT, "tag", "--list")).split("\n"),
  };
}

/** Prints all obstacles; true if there are none. */
function isFree(obstacles: readonly Obstacle[]): boolean {
  for (const { message, next } of obstacles) print(`${message}\n  ${next}`);
  return obstacles.length === 0;
}

/** Files that contain the version, each with the text before it. */
const VERSIONED: Readonly<Record<string, string>> = {
  "deno.json": '"version": "',
  "editors/emacs/flemma.el": ";; Version: ",
  "editors/vscode/package.json": '"version": "',
};

async function prepare(version: string): Promise<number> {
  const found = await checkout();
  if (!isFree(obstaclesToPrepare(found, version))) return 1;
  const day = new Date().toISOString().slice(0, 10);
  const texts = new Map([["CHANGELOG.md", withVersion(found.changelog, version, day)]]);
  for (const [path, before] of Object.entries(VERSIONED)) {
    const text = await Deno.readTextFile(`${ROOT}/${path}`);
    const changed = text.replace(`${before}${found.version}`, `${before}${version}`);
    if (changed === text && version !== found.version) {
      throw new Error(`${path} does not contain the version ${found.version}`);
    }
    texts.set(path, changed);
  }
  for (const [path, text] of texts) await Deno.writeTextFile(`${ROOT}/${path}`, text);
  print(`${[...texts.keys()].join(", ")} now have the version ${version}. Next:`);
  print("  deno task generate && deno task ok");
  print(`  git commit --all --message 'Release ${version}'`);
  print("  deno task release make --dry-run …");
  return 0;
}

async function make(given: Given): Promise<number> {
  const origin = originOf(given);
  const runtime = await runtimeOf(given);
  const dry = given["dry-run"] === true;
  if (!isFree(obstaclesToRelease(await checkout()))) return 1;
  const target = dry
    ? await Deno.makeTempDir({ prefix: "flemma-release-" })
    : String(given.output ?? `${ROOT}/dist/release`);
  // This module is imported here, because it needs every tool of the build, and the other commands do not.
  const { makeRelease } = await import("./make.ts");
  try {
    if (!dry) await emptyFolder(target);
    for (const { name, size, sha256 } of await makeRelease(target, { origin, runtime })) {
      print(`${sha256}  ${String(size).padStart(10)}  ${name}`);
    }
  } finally {
    if (dry) await Deno.remove(target, { recursive: true });
  }
  const { version } = manifest;
  if (dry) print("Dry run: the files were deleted.");
  else {
    print(`The files are in ${target}. Next (publishing cannot be undone):`);
    print(`  git tag --annotate v${version} --message 'flemma ${version}' && git push --follow-tags`);
    print(
      `  npm publish ${target}/flemma-${version}.tgz && npm publish ${target}/flemma-windows-${version}.tgz`,
    );
    print(`  Upload all files to ${origin.address}`);
  }
  return 0;
}

/** Fails unless the folder is empty, so that no checksum is of another release's file. */
async function emptyFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true });
  if (!Deno.readDirSync(path)[Symbol.iterator]().next().done) {
    throw new Unusable(`${path} is not empty. Empty it, or name another folder with --output.`);
  }
}

function originOf(given: Given): Origin {
  const address = addressOf(given, "address").replace(/\/$/, "");
  const maintainer = String(given.maintainer ?? "");
  if (!isMaintainer(maintainer)) {
    throw new Unusable("--maintainer needs a name and an address: 'Ada <ada@example.org>'.");
  }
  return { homepage: addressOf(given, "homepage"), address, maintainer };
}

function addressOf(given: Given, name: "homepage" | "address"): string {
  const text = String(given[name] ?? "");
  if (!isAddress(text)) throw new Unusable(`--${name} needs an address that begins with https://.`);
  return text;
}

async function runtimeOf({ deno, binary }: Given): Promise<Runtime> {
  if (deno !== undefined && binary !== undefined) {
    throw new Unusable("Use either --deno or --binary.");
  }
  const path = deno ?? binary;
  if (path === undefined) return { kind: "path" };
  const found = await Deno.stat(String(path)).catch(() => null);
  if (!found?.isFile) throw new Unusable(`${path}: not found, or not a file.`);
  try {
    await needsOf(String(path));
  } catch (thrown) {
    throw new Unusable(`${(thrown as Error).message}.`);
  }
  return { kind: deno === undefined ? "binary" : "deno", path: String(path) };
}

function formulaOf(given: Given): string {
  const checksum = String(given.checksum ?? "");
  if (!/^[0-9a-f]{64}$/.test(checksum)) {
    throw new Unusable("--checksum needs a SHA-256: 64 hexadecimal digits.");
  }
  return formula({
    version: String(given.version ?? manifest.version),
    address: addressOf(given, "address"),
    homepage: addressOf(given, "homepage"),
    checksum,
  });
}

if (import.meta.main) {
  try {
    Deno.exit(await run(Deno.args));
  } catch (thrown) {
    if (!(thrown instanceof Unusable)) throw thrown;
    print(`${thrown.message}\n\n${HELP.trimEnd()}`);
    Deno.exit(2);
  }
}

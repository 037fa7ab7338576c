// The Debian package.
//
// It includes a Deno, or is one compiled program, because Debian does not package Deno and an installed program must
// start. A variant with only the bundle is for users who have Deno already; it is the same for every machine.

import { COMPLETIONS } from "./contents.ts";
import { type Needs, needsOf } from "./elf.ts";
import { output } from "./run.ts";
import type { Staged } from "./stage.ts";
import { START_CHECKS } from "./start_checks.ts";

/** What starts the program: a self-contained binary, an included Deno, or the Deno on the PATH. */
export type Runtime =
  | { readonly kind: "binary"; readonly path: string }
  | { readonly kind: "deno"; readonly path: string }
  | { readonly kind: "path" };

export interface DebianOptions {
  readonly staged: Staged;
  readonly runtime: Runtime;
  /** A name and an email address, in Debian's form: `Ada <ada@example.org>`. */
  readonly maintainer: string;
  /** The project's homepage URL. */
  readonly homepage: string;
  /** Modification time of all files in seconds since 1970, so that the same content makes the same package. */
  readonly epoch: number;
  /** Compression of the package; `none` is fast. @default "xz" */
  readonly compression?: "xz" | "none";
}

const COMPLETIONS_AT: Readonly<Record<keyof typeof COMPLETIONS, string>> = {
  bash: "usr/share/bash-completion/completions/flemma",
  zsh: "usr/share/zsh/vendor-completions/_flemma",
  fish: "usr/share/fish/vendor_completions.d/flemma.fish",
};

const LICENSES = ["LICENSE", "NOTICES.md"];

const LAUNCHER = `#!/bin/sh
# Starts flemma with the Deno that was installed with it, or with the one on the PATH.
deno=/usr/lib/flemma/deno
[ -x "$deno" ] || deno=$(command -v deno) || {
  echo "flemma: Deno was not found on the PATH." >&2
  echo "  Install Deno 2.4.2 or later, for instance: npm install -g deno" >&2
  exit 1
}
${START_CHECKS}export DENO_NO_UPDATE_CHECK=1
exec "$deno" run --no-config --no-lock --cached-only --quiet -A /usr/lib/flemma/flemma.js "$@"
`;

/**
 * Makes `flemma_VERSION_ARCHITECTURE.deb` in a folder; returns its path.
 * @throws if the included program is for an unsupported machine
 */
export async function buildDebian(target: string, options: DebianOptions): Promise<string> {
  const { staged, runtime, epoch, compression = "xz" } = options;
  const needs = runtime.kind === "path" ? null : await needsOf(runtime.path);
  const work = await Deno.makeTempDir({ prefix: "flemma-debian-" });
  try {
    for (const [path, file] of await contents(options)) await put(`${work}/${path}`, file);
    const sums = await output("sh", ["-c", "find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum"], {
      cwd: work,
    });
    const size = await sizeOf(work);
    await put(`${work}/DEBIAN/md5sums`, { text: sums });
    await put(`${work}/DEBIAN/control`, { text: control(options, needs, size) });
    await output("find", [work, "-exec", "touch", "-h", "-d", `@${epoch}`, "{}", "+"]);
    const architecture = needs?.architecture ?? "all";
    const path = `${target}/flemma_${debianVersion(staged.version)}_${architecture}.deb`;
    await output("dpkg-deb", ["--root-owner-group", `-Z${compression}`, "--build", work, path], {
      env: { SOURCE_DATE_EPOCH: String(epoch) },
    });
    return path;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** True if a text is a name and an email address in one line, in Debian's form. */
export function isMaintainer(text: string): boolean {
  return /^[^<>\n]+ <[^<>@\s]+@[^<>@\s]+>$/.test(text);
}

/** Returns a version in Debian's order, in which a pre-release has a tilde. */
export function debianVersion(version: string): string {
  return version.replace("-", "~");
}

/** A file of the package: a copy, or its own text. */
type File =
  & { readonly executable?: boolean }
  & (
    | { readonly from: string }
    | { readonly text: string | Uint8Array<ArrayBuffer> }
  );

/** Returns the files by their paths below the root. */
async function contents({ staged, runtime, homepage }: DebianOptions): Promise<Map<string, File>> {
  const { folder, parts } = staged;
  const files = new Map<string, File>([
    ["usr/share/man/man1/flemma.1.gz", { text: await compressed(`${folder}/flemma.1`) }],
    ["usr/share/doc/flemma/changelog.gz", { text: await compressed(`${folder}/CHANGELOG.md`) }],
    ["usr/share/doc/flemma/copyright", {
      text: copyright(
        await Promise.all(LICENSES.map((page) => Deno.readTextFile(`${folder}/${page}`))),
        homepage,
        runtime,
      ),
    }],
  ]);
  for (const [shell, name] of Object.entries(COMPLETIONS)) {
    files.set(COMPLETIONS_AT[shell as keyof typeof COMPLETIONS], { from: `${folder}/completions/${name}` });
  }
  for (const { name } of Deno.readDirSync(`${folder}/schemas`)) {
    files.set(`usr/share/flemma/schemas/${name}`, { from: `${folder}/schemas/${name}` });
  }
  if (runtime.kind === "binary") return files.set("usr/bin/flemma", { from: runtime.path, executable: true });
  files.set("usr/bin/flemma", { text: LAUNCHER, executable: true });
  files.set("usr/lib/flemma/flemma.js", { from: `${folder}/flemma.js` });
  for (const { name } of Deno.readDirSync(`${folder}/${parts}`)) {
    files.set(`usr/lib/flemma/${parts}/${name}`, { from: `${folder}/${parts}/${name}` });
  }
  if (runtime.kind === "deno") files.set("usr/lib/flemma/deno", { from: runtime.path, executable: true });
  return files;
}

async function put(path: string, file: File): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if ("from" in file) await Deno.copyFile(file.from, path);
  else if (typeof file.text === "string") await Deno.writeTextFile(path, file.text);
  else await Deno.writeFile(path, file.text);
  await Deno.chmod(path, file.executable ? 0o755 : 0o644);
}

/** Returns a file compressed by gzip, without name and time. */
function compressed(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return output("gzip", ["-9", "-n", "-c", path]);
}

/** Returns the total size of all files, in units of 1024 bytes. */
async function sizeOf(folder: string): Promise<number> {
  const reported = await output("du", ["-sk", "--apparent-size", folder]);
  return Number.parseInt(new TextDecoder().decode(reported));
}

function control({ staged, maintainer, homepage }: DebianOptions, needs: Needs | null, size: number): string {
  const depends = needs === null ? [] : [`Depends: libc6 (>= ${needs.glibc}), libgcc-s1`];
  return [
    "Package: flemma",
    `Version: ${debianVersion(staged.version)}`,
    `Architecture: ${needs?.architecture ?? "all"}`,
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${size}`,
    ...depends,
    "Recommends: bubblewrap",
    "Section: utils",
    "Priority: optional",
    `Homepage: ${homepage}`,
    "Description: agent loop on plain .chat files, for any editor",
    " Conversations with a model are text files that you write in your own editor and",
    " keep in git. What the model wants to run waits in the text until you approve it,",
    " and runs in a sandbox.",
    ...(needs === null ? [" .", " This package needs a Deno, 2.4.2 or later, on the PATH."] : []),
    "",
  ].join("\n");
}

/** Returns the origin, and every license in full. */
function copyright(pages: readonly string[], homepage: string, { kind }: Runtime): string {
  return [
    `flemma comes from ${homepage}.`,
    ...(kind === "path"
      ? []
      : ["Deno, the runtime in it, is under the MIT license: Copyright 2018-2026 the Deno authors."]),
    "",
    ...pages,
  ].join("\n");
}

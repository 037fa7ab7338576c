// Makes all files of a release in one folder.

import manifest from "../../deno.json" with { type: "json" };
import { components, noticesPage } from "../build/bundled.ts";
import { buildPackages, ENTRIES, packageManifest } from "../build/npm.ts";
import { ROOT } from "../gate/root.ts";
import { buildArchive } from "./packages/archive.ts";
import { buildDebian, type Runtime } from "./packages/debian.ts";
import { formula } from "./packages/formula.ts";
import { git, output } from "./packages/run.ts";
import { stage } from "./packages/stage.ts";
import { integrityIn, sbom } from "./sbom.ts";
import { notesOf } from "./version.ts";

/** Facts about the origin of a release, which the release states. */
export interface Origin {
  /** The project's homepage URL. */
  readonly homepage: string;
  /** The base URL of the released files, without a final slash. */
  readonly address: string;
  /** Name and email address of the maintainer, in Debian's form. */
  readonly maintainer: string;
}

export interface Made {
  readonly name: string;
  readonly size: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Makes the files in `target`, an existing empty folder; returns them by name, including `SHA256SUMS` with the
 * checksums of all. The times of the files are that of the last commit.
 */
export async function makeRelease(
  target: string,
  { origin, runtime }: { readonly origin: Origin; readonly runtime: Runtime },
): Promise<Made[]> {
  const epoch = Number(await git(ROOT, "log", "-1", "--format=%ct"));
  const work = await Deno.makeTempDir({ prefix: "flemma-release-" });
  try {
    for (const folder of await buildPackages(`${work}/npm`)) {
      await output("npm", ["pack", "--silent", "--pack-destination", target, folder]);
    }
    const staged = await stage(`${work}/staged`);
    const archive = await buildArchive(target, staged, epoch);
    await buildDebian(target, { staged, runtime, epoch, ...origin });
    const { version } = manifest;
    const bundled = await components(ENTRIES);
    const { dependencies, optionalDependencies } = packageManifest() as Record<
      string,
      Record<string, string>
    >;
    const texts: Readonly<Record<string, string>> = {
      "flemma.rb": formula({
        version,
        address: `${origin.address}/${nameOf(archive)}`,
        checksum: await hashOf(archive),
        homepage: origin.homepage,
      }),
      [`flemma-${version}.sbom.json`]: `${
        sbom({
          version,
          components: bundled,
          dependencies: { ...dependencies, ...optionalDependencies },
          integrity: integrityIn(await Deno.readTextFile(`${ROOT}/deno.lock`)),
          epoch,
        })
      }\n`,
      "NOTICES.md": noticesPage(bundled),
      "CHANGES.md": notesOf(await Deno.readTextFile(`${ROOT}/CHANGELOG.md`), version, origin.address),
    };
    for (const [name, text] of Object.entries(texts)) await Deno.writeTextFile(`${target}/${name}`, text);
    return await withSums(target);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Writes the checksums of all files in a folder, in the format of `sha256sum --check`. */
async function withSums(folder: string): Promise<Made[]> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  const made = await Promise.all(names.map((name) => madeAt(folder, name)));
  await Deno.writeTextFile(
    `${folder}/SHA256SUMS`,
    made.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""),
  );
  return [...made, await madeAt(folder, "SHA256SUMS")];
}

async function madeAt(folder: string, name: string): Promise<Made> {
  const { size } = await Deno.stat(`${folder}/${name}`);
  return { name, size, sha256: await hashOf(`${folder}/${name}`) };
}

async function hashOf(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(path))).toHex();
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

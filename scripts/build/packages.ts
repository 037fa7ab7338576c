// The packages that the program imports, under the names by which other tools than Deno know them.
//
// The source names them as Deno does, with their versions, so that it runs from an address without an import map.

import type * as esbuild from "esbuild";
import { ROOT } from "../gate/root.ts";

/** The name of a package, and what is imported of it, without the way in which Deno writes it. */
export function bareName(specifier: string): string {
  return specifier.replace(/^npm:\/?((?:@[^/]+\/)?[^@/]+)(?:@[^/]+)?/, "$1");
}

/** Lets a bundler find packages by their bare names. */
export const bareNames: esbuild.Plugin = {
  name: "bare-names",
  setup(build) {
    build.onResolve({ filter: /^npm:/ }, ({ path, importer, kind, resolveDir }) => {
      return build.resolve(bareName(path), { importer, kind, resolveDir });
    });
  },
};

/**
 * Where the files of a package lie; it is fetched when it is not there yet.
 *
 * @throws When the registry has it not.
 */
export async function packageFolder(name: string, version: string): Promise<string> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `npm:${name}@${version}`],
    cwd: ROOT,
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const packages = success ? JSON.parse(new TextDecoder().decode(stdout)).npmPackages : {};
  const found = Object.entries<{ readonly localPath: string }>(packages)
    .find(([key]) => key === `${name}@${version}` || key.startsWith(`${name}@${version}_`));
  if (found === undefined) throw new Error(`${name} ${version} could not be fetched from the registry`);
  return found[1].localPath;
}

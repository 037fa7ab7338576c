// The packages that the program imports, under the names by which other tools than Deno know them.
//
// The source names them as Deno does, with their versions, so that it runs from an address without an import map.

import type * as esbuild from "esbuild";

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

// The imported packages, under the names that other tools than Deno use.
//
// The source uses Deno's specifiers with versions, so that it runs from a URL without an import map.

import type * as esbuild from "esbuild";
import { ROOT } from "../gate/root.ts";

/** Returns the package name and the imported path, without Deno's prefix and version. */
export function bareName(specifier: string): string {
  return specifier.replace(/^npm:\/?((?:@[^/]+\/)?[^@/]+)(?:@[^/]+)?/, "$1");
}

/** Plugin that lets a bundler find packages by their bare names. */
export const bareNames: esbuild.Plugin = {
  name: "bare-names",
  setup(build) {
    build.onResolve({ filter: /^npm:/ }, ({ path, importer, kind, resolveDir }) => {
      return build.resolve(bareName(path), { importer, kind, resolveDir });
    });
  },
};

/**
 * Returns the folder with the files of a package, and downloads it if necessary.
 * @throws if the registry does not have it
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

/**
 * Replaces what the MCP client takes from the platform. Its variant for browsers reads every network error as a
 * violation of browser rules, and each variant contains a validator, which this program never uses.
 */
export const mcpShims: esbuild.Plugin = {
  name: "mcp-shims",
  setup(build) {
    const namespace = "mcp-shims";
    build.onResolve(
      { filter: /^@modelcontextprotocol\/client\/_shims$/ },
      ({ path }) => ({ path, namespace }),
    );
    build.onLoad({ filter: /.*/, namespace }, () => ({
      contents: "export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator {}",
      loader: "js",
    }));
  },
};

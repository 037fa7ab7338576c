// Bundles the tool host into one text, with which the program can start it in every distributed form.

import * as esbuild from "esbuild";
import { ROOT } from "../gate/root.ts";

const HEAD =
  `// Made from tools/vellum/host/ by scripts/generate/tool_host.ts (deno task generate). Do not edit.
`;

export async function generate(): Promise<{ path: string; text: string }> {
  const [host, api] = [await built("main.ts"), await built("plugin_api.ts")];
  const text = `${HEAD}
/** The program of a tool host. */
export const HOST: string = ${JSON.stringify(host)};

/** What a tool file gets for the name of the package it is written against. */
export const PLUGIN_API: string = ${JSON.stringify(api)};
`;
  return { path: "tools/vellum/host.generated.ts", text };
}

async function built(name: string): Promise<string> {
  const { outputFiles: [output] } = await esbuild.build({
    entryPoints: [`${ROOT}/tools/vellum/host/${name}`],
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  });
  await esbuild.stop();
  return output!.text;
}

// Builds the WASM module of the line scanner from AssemblyScript, with the starters of structure from lines.ts.

import asc from "assemblyscript/asc";
import { STARTERS } from "../../parser/text/lines.ts";
import { INPUT, OUTPUT, PAGES } from "../../parser/scan/layout.ts";

const SOURCE = new URL("../../parser/scan/scan.as", import.meta.url);
const FLAGS = ["--enable", "simd", "--runtime", "stub", "-O3", "--shrinkLevel", "0", "--noAssert"];

/** Returns the checked-in module as text, with its path relative to the repository. */
export async function generate(): Promise<{ path: string; text: string }[]> {
  const bytes = await compile(constants() + await Deno.readTextFile(SOURCE));
  const lines = btoa(String.fromCharCode(...bytes)).match(/.{1,100}/g) ?? [];
  const text = [
    "// Made from parser/scan/scan.as by scripts/generate/scan.ts (deno task generate). Do not edit.",
    `/** The module of stage one, ${bytes.length} bytes as base64. */`,
    "export const WASM: string =",
    lines.map((line) => `  "${line}"`).join(" +\n") + ";",
    "",
  ].join("\n");
  return [{ path: "parser/scan/wasm.generated.ts", text }];
}

/** Returns the constants that the module shares with the rest of the program. */
function constants(): string {
  const tests = [...STARTERS].map((char) => `i8x16.eq(bytes, i8x16.splat(${char.charCodeAt(0)}))`);
  const either = tests.reduce((all, test) => `v128.or(${all}, ${test})`);
  return [
    `const INPUT: usize = ${INPUT};`,
    `const OUTPUT: usize = ${OUTPUT};`,
    "// @ts-ignore: a decorator of this language",
    "@inline",
    `function starter(bytes: v128): v128 { return ${either}; }`,
    "",
  ].join("\n");
}

async function compile(source: string): Promise<Uint8Array> {
  const memory = ["--initialMemory", `${PAGES}`, "--maximumMemory", `${PAGES}`];
  let module: Uint8Array | null = null;
  const { error, stderr } = await asc.main(["scan.ts", "--outFile", "scan.wasm", ...FLAGS, ...memory], {
    readFile: (name: string) => name === "scan.ts" ? source : null,
    writeFile: (name: string, contents: string | Uint8Array) => {
      if (name === "scan.wasm" && typeof contents !== "string") module = contents;
    },
    listFiles: () => [],
  });
  if (error !== null || module === null) throw new Error(`The scanner does not build: ${stderr.toString()}`);
  return module;
}

// Embeds the Lua interpreter of the wasmoon package as text, so that a bundle and a compiled program carry it along.

import { ROOT } from "../gate/root.ts";

const PACKAGE = "wasmoon";
const TARGET = "lua/interpreter.generated.ts";

/**
 * The checked-in module with the interpreter, deflated and in base64.
 *
 * One byte of it is changed. Lua 5.4 looks whether the text of a float holds only the characters of this constant and
 * then appends ".0"; Lua 5.1 and LuaJIT, which documents are written for, do not. With an empty constant nothing is
 * ever appended.
 */
export async function generate(): Promise<{ path: string; text: string }[]> {
  const version = await pinnedVersion();
  const wasm = await Deno.readFile(`${await packageFolder(version)}/dist/glue.wasm`);
  blankConstant(wasm, "\0-0123456789\0");
  const deflated = new Blob([wasm]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const text = new Uint8Array(await new Response(deflated).arrayBuffer()).toBase64();
  return [{
    path: TARGET,
    text: [
      `// Made from ${PACKAGE} ${version} by scripts/generate/lua.ts (deno task generate). Do not edit.`,
      "// Lua 5.4: Copyright 1994-2023 Lua.org, PUC-Rio. wasmoon: Copyright 2023 Gabriel Francisco. Both MIT license.",
      "// deno-lint-ignore-file",
      "",
      `/** The WASM module, deflated without header, in base64. */`,
      `export const INTERPRETER = "${text}";`,
      "",
      `/** Bytes of the module. */`,
      `export const INTERPRETER_SIZE = ${wasm.length};`,
      "",
    ].join("\n"),
  }];
}

/** Puts a zero on the first character of a constant that must stand in the data exactly once. */
function blankConstant(wasm: Uint8Array, constant: string): void {
  const text = new TextDecoder("latin1").decode(wasm);
  const at = text.indexOf(constant);
  if (at < 0 || text.indexOf(constant, at + 1) >= 0) {
    throw new Error(`${PACKAGE}: the constant ${JSON.stringify(constant)} does not stand in the module once`);
  }
  wasm[at + 1] = 0;
}

async function pinnedVersion(): Promise<string> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  return String(imports[PACKAGE]).replace(`npm:${PACKAGE}@`, "");
}

async function packageFolder(version: string): Promise<string> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `npm:${PACKAGE}@${version}`],
    cwd: ROOT,
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const packages = success ? JSON.parse(new TextDecoder().decode(stdout)).npmPackages : {};
  const found = packages[`${PACKAGE}@${version}`];
  if (found === undefined) throw new Error(`${PACKAGE} ${version} could not be fetched from the registry`);
  return found.localPath;
}

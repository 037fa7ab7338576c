// Embeds the Lua interpreter of the wasmoon package as text, so that it is included in a bundle or compiled program.

import { packageFolder } from "../build/packages.ts";
import { ROOT } from "../gate/root.ts";

const PACKAGE = "wasmoon";
const TARGET = "lua/interpreter.generated.ts";

/**
 * Returns the checked-in module with the interpreter, deflated and in base64. One byte of it is changed. Lua 5.4
 * checks whether the text of a float contains only the characters of this constant and then appends ".0"; Lua 5.1 and
 * LuaJIT, which documents are written for, do not. With an empty constant nothing is ever appended. It also exports
 * the address of a part of Lua's table of character classes: the bytes above ASCII. In Lua 5.4 they have no class, in
 * LuaJIT they are letters, so that `größe` is a name; the machine marks them at its start.
 */
export async function generate(): Promise<{ path: string; text: string }[]> {
  const { version, folder } = await interpreterPackage();
  const wasm = await Deno.readFile(`${folder}/dist/glue.wasm`);
  blankConstant(wasm, "\0-0123456789\0");
  const above = addressAboveAscii(wasm);
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
      `/** Address of what Lua takes the bytes above ASCII for, one byte each. */`,
      `export const ABOVE_ASCII = ${above};`,
      "",
    ].join("\n"),
  }];
}

/** Overwrites with zero the first character of a constant that must occur in the data exactly once. */
function blankConstant(wasm: Uint8Array, constant: string): void {
  const text = new TextDecoder("latin1").decode(wasm);
  const at = text.indexOf(constant);
  if (at < 0 || text.indexOf(constant, at + 1) >= 0) {
    throw new Error(`${PACKAGE}: the constant ${JSON.stringify(constant)} does not stand in the module once`);
  }
  wasm[at + 1] = 0;
}

/** The rows of Lua's table of character classes (lctype.c) from the blank to the last nonzero one of ASCII. */
const CHARACTERS = [0x0c, ...many(15, 0x04), ...many(10, 0x16), ...many(7, 0x04), ...many(6, 0x15)]
  .concat(many(20, 0x05), many(4, 0x04), [0x05, 0x04], many(6, 0x15), many(20, 0x05), many(4, 0x04));

/**
 * Returns the address of the 128 bytes above ASCII in that table once the module is in memory. They are zero, and
 * trailing zeros are not stored in a module, so the address is the end of the data with the rest of the table.
 */
function addressAboveAscii(wasm: Uint8Array): number {
  const rows = latin1(CHARACTERS);
  const found = dataSegments(wasm).flatMap(({ address, data }) => {
    const at = latin1(data).indexOf(rows);
    return at < 0
      ? []
      : [{ address: address + at + CHARACTERS.length, next: data[at + CHARACTERS.length] ?? 0 }];
  });
  if (found.length !== 1 || found[0]!.next !== 0) {
    throw new Error(`${PACKAGE}: the table of characters does not stand in the module once`);
  }
  // The address follows the delete character, the last one of ASCII.
  return found[0]!.address + 1;
}

const DATA_SECTION = 11;

/** Returns the data segments of a module, each with its address in memory. */
function dataSegments(wasm: Uint8Array): { readonly address: number; readonly data: Uint8Array }[] {
  let at = 8;
  const number = (): number => {
    for (let value = 0, shift = 0;; shift += 7) {
      const byte = wasm[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < wasm.length) {
    const section = wasm[at++]!;
    const end = number() + at;
    if (section !== DATA_SECTION) {
      at = end;
      continue;
    }
    return Array.from({ length: number() }, () => {
      // The segment must be active, in memory 0, at `i32.const ADDRESS; end`, which is the only form that the linker
      // writes.
      if (wasm[at] !== 0 || wasm[at + 1] !== 0x41) throw new Error(`${PACKAGE}: its data has another form`);
      at += 2;
      const address = number();
      at++;
      const length = number();
      at += length;
      return { address, data: wasm.subarray(at - length, at) };
    });
  }
  return [];
}

function latin1(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function many(count: number, value: number): number[] {
  return Array<number>(count).fill(value);
}

async function pinnedVersion(): Promise<string> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  return String(imports[PACKAGE]).replace(`npm:${PACKAGE}@`, "");
}

/** Returns the version and folder of the package with the interpreter. */
export async function interpreterPackage(): Promise<{ version: string; folder: string }> {
  const version = await pinnedVersion();
  return { version, folder: await packageFolder(PACKAGE, version) };
}

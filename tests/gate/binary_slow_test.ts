// A single binary is tested before it is accepted: one row for each way in which it can be wrong.

import assert from "node:assert/strict";
import { compileProgram } from "../../scripts/build/binary.ts";
import { freshFolder } from "../folder.ts";

const PARTS = "flemma-1.2.3-abcdef";
const HERE = `${Deno.build.os} ${Deno.build.arch}`;

/** The beginnings of programs for other machines, as hexadecimal digits in pairs. */
const FIRST: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "7f454c46 02010100 00000000 00000000 0300 3e00",
  "aarch64-unknown-linux-gnu": "7f454c46 02010100 00000000 00000000 0300 b700",
  "x86_64-apple-darwin": "cffaedfe 07000001",
  "aarch64-apple-darwin": "cffaedfe 0c000001",
  "x86_64-pc-windows-msvc": "4d5a9000",
};

/** Compiles by a program of the shell that stands for Deno; answers the sentence, and whether there is a file. */
async function compiledBy(script: string, target: string): Promise<{ stated: string | null; made: boolean }> {
  const root = await freshFolder("flemma-binary-");
  try {
    await Deno.mkdir(`${root}/bundle/${PARTS}`, { recursive: true });
    const words = 'for word; do [ "${before-}" = -o ] && out=$word; before=$word; done';
    await Deno.writeTextFile(`${root}/deno`, `#!/bin/sh\n${words}\n${script}\n`, { mode: 0o755 });
    const stated = await compileProgram({
      bundle: `${root}/bundle`,
      target,
      file: `${root}/out/flemma`,
      deno: `${root}/deno`,
      base: undefined,
    });
    return { stated, made: await Deno.stat(`${root}/out/flemma`).then(() => true, () => false) };
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** A line of shell that makes a file of these bytes, with a text behind them. */
function makes(hexadecimal: string, text: string, ending = ""): string {
  const bytes = hexadecimal.replaceAll(" ", "").match(/../g)!;
  const octal = bytes.map((byte) => `\\${parseInt(byte, 16).toString(8).padStart(3, "0")}`).join("");
  return `printf '${octal}%s' '${text}' > "$out${ending}"`;
}

Deno.test("the build accepts a binary for another machine only if it is a program for that machine and contains flemma", async () => {
  for (const [target, first] of Object.entries(FIRST)) {
    if (target.startsWith(Deno.build.arch) && target.includes(Deno.build.os)) continue;
    const ending = target.includes("windows") ? ".exe" : "";
    const retained = `base ${PARTS}/commands.js end`;
    assert.deepEqual(
      await compiledBy(makes(first, retained, ending), target),
      { stated: null, made: true },
      target,
    );
    assert.deepEqual(await compiledBy(makes(first, "base flemma-1.2.3-abcde", ending), target), {
      stated: "The result does not contain the program.",
      made: false,
    });
    for (const [other, wrong] of Object.entries(FIRST)) {
      if (other === target) continue;
      assert.deepEqual(await compiledBy(makes(wrong, retained, ending), target), {
        stated: `The result is not a program for ${target}: the base is for another machine.`,
        made: false,
      }, `${other} for ${target}`);
    }
  }
});

Deno.test({
  name: "the build runs a binary for this machine and refuses a different program",
  ignore: HERE !== "linux x86_64" && HERE !== "linux aarch64",
  async fn() {
    // A program that is there, as a base of the wrong kind would leave it.
    const something = `cp /bin/echo "$out"; printf '${PARTS}' >> "$out"`;
    assert.deepEqual(await compiledBy(something, ""), {
      stated: "The result is not flemma: the named base is not a base for binaries.",
      made: false,
    });
  },
});

Deno.test("if the base binary of a target is missing, the message says why, and how to specify one", async () => {
  const fails = `cat >&2 <<'END'
error: Writing deno compile executable to temporary file 'x'

Caused by:
    0: Setting up base binary.
    1: error sending request for url (https://127.0.0.1/denort.zip)
    2: client error (Connect)

Stack backtrace:
   0: <unknown>
END
exit 1`;
  assert.deepEqual(await compiledBy(fails, "aarch64-apple-darwin"), {
    stated: "There is no base for aarch64-apple-darwin: Setting up base binary. " +
      "error sending request for url (https://127.0.0.1/denort.zip).\n" +
      "  Set DENORT_BIN to a base, and COMPILE_DENO to the Deno of the same version.",
    made: false,
  });
  const { stated } = await compiledBy("exit 0", "");
  assert.match(stated ?? "", /^There is no base for this machine/);
});

Deno.test("if scripts/compile gets an unknown target, it lists the known targets", async () => {
  const script = new URL("../../scripts/compile", import.meta.url).pathname;
  for (const words of [["arm"], ["toString"], ["", "a", "b"]]) {
    const { code, stderr } = await new Deno.Command(script, { args: words, env: { DENO: Deno.execPath() } })
      .output();
    assert.equal(code, 2);
    assert.match(new TextDecoder().decode(stderr), /TARGET is one of x86_64-unknown-linux-gnu, aarch64/);
  }
});

// Third-party components in the shipped files, with their licenses.

import { interpreterPackage } from "../generate/lua.ts";
import { packagesIn } from "./bundle.ts";

/** A shipped third-party component. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX identifier of the component's license. */
  readonly license: string;
  /** The notice that must be included. */
  readonly notice: string;
  /** True if the component is an npm package; otherwise it is part of machine code in one. */
  readonly isPackage: boolean;
}

/** A bundled module, and the packages that the importing program provides. */
export interface Entry {
  readonly module: string;
  readonly external: readonly string[];
}

/** Licenses that only require including their text. A component with another license is not bundled without review. */
const LICENSES = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"];

/** Generated modules that are bundles themselves, with their sources. */
const BUNDLES: Readonly<Record<string, string>> = {
  "tools/files/helper.generated.ts": "tools/files/helper.ts",
  "sandbox/kernel/launcher.generated.ts": "sandbox/kernel/launcher.ts",
};

const MIT_TERMS =
  `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Components of the Lua interpreter, which is machine code. Its package does not list them. */
const INTERPRETER: readonly Component[] = [
  mit("Lua", "5.4", "Copyright (c) 1994-2023 Lua.org, PUC-Rio."),
  mit("musl", "1.2", "Copyright (c) 2005-2020 Rich Felker, et al."),
  mit("Emscripten", "3", "Copyright (c) 2010-2014 Emscripten authors."),
];

/** Returns all third-party components in bundles of these modules, by name, each once. */
export async function components(entries: readonly Entry[]): Promise<Component[]> {
  const found = new Map(INTERPRETER.map((one) => [one.name, one]));
  found.set("wasmoon", await componentOf((await interpreterPackage()).folder));
  const inside = Object.values(BUNDLES).map((module) => ({ module, external: [] }));
  for (const { module, external } of [...entries, ...inside]) {
    for (const [name, folder] of await packagesIn(module, external)) {
      if (!found.has(name)) found.set(name, await componentOf(folder));
    }
  }
  return [...found.values()].sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * Reads a package's own metadata.
 * @throws if its license is not in the list, or if its text is missing, because a person must then check it
 */
export async function componentOf(folder: string): Promise<Component> {
  const { name, version, license } = JSON.parse(await Deno.readTextFile(`${folder}/package.json`));
  if (!LICENSES.includes(license)) {
    throw new Error(`${name} ${version} is under ${license}: may it be bundled?`);
  }
  const file = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort()
    .find((each) => /^(licen[cs]e|copying)\b/i.test(each));
  if (file === undefined) throw new Error(`${name} ${version} has no text of its license`);
  const notice = (await Deno.readTextFile(`${folder}/${file}`)).replaceAll("\r\n", "\n").trim();
  return { name, version, license: license, notice, isPackage: true };
}

export function noticesPage(found: readonly Component[]): string {
  return [
    "# Notices",
    "",
    "flemma is under the MIT license (LICENSE). Its files include code of these packages, under their own licenses:",
    "",
    ...found.map(({ name, version, license }) => `- ${name} ${version}: ${license}`),
    "",
    ...found.flatMap((
      { name, version, notice },
    ) => [`## ${name} ${version}`, "", "```text", notice, "```", ""]),
  ].join("\n");
}

function mit(name: string, version: string, copyright: string): Component {
  return { name, version, license: "MIT", notice: `${copyright}\n\n${MIT_TERMS}`, isPackage: false };
}

// What of others is in the files that are shipped, with the licences it comes under.

import { interpreterPackage } from "../generate/lua.ts";
import { packagesIn } from "./bundle.ts";

/** Something of others that is shipped. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** A licence by its name in the list of SPDX. */
  readonly license: string;
  /** The text that has to go along. */
  readonly notice: string;
  /** Whether it is a package of npm; else it is in machine code that one of them brings. */
  readonly isPackage: boolean;
}

/** A module that is bundled, and the packages that are left to the program that imports it. */
export interface Entry {
  readonly module: string;
  readonly external: readonly string[];
}

/** Licences that ask for no more than that their text goes along. What is under another one is not bundled unseen. */
const LICENSES = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"];

/** Generated modules that are bundles themselves, with what they are made from. */
const BUNDLES: Readonly<Record<string, string>> = {
  "tools/files/helper.generated.ts": "tools/files/helper.ts",
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

/** What is in the Lua interpreter, which is machine code. The package it comes from says nothing of it. */
const INTERPRETER: readonly Component[] = [
  mit("Lua", "5.4", "Copyright (c) 1994-2023 Lua.org, PUC-Rio."),
  mit("musl", "1.2", "Copyright (c) 2005-2020 Rich Felker, et al."),
  mit("Emscripten", "3", "Copyright (c) 2010-2014 Emscripten authors."),
];

/** Everything of others in bundles of these modules, by name; each once. */
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
 * What a package says of itself.
 *
 * @throws When it has no licence that is known here, or no text of it: then a person has to look.
 */
export async function componentOf(folder: string): Promise<Component> {
  const { name, version, license } = JSON.parse(await Deno.readTextFile(`${folder}/package.json`));
  if (!LICENSES.includes(license)) {
    throw new Error(`${name} ${version} is under ${license}: may it be bundled?`);
  }
  const file = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort()
    .find((each) => /^(licen[cs]e|copying)\b/i.test(each));
  if (file === undefined) throw new Error(`${name} ${version} has no text of its licence`);
  const notice = (await Deno.readTextFile(`${folder}/${file}`)).replaceAll("\r\n", "\n").trim();
  return { name, version, license: license, notice, isPackage: true };
}

/** The notices as one page. */
export function noticesPage(found: readonly Component[]): string {
  return [
    "# Notices",
    "",
    "flemma is under the MIT licence (LICENSE). The files that are shipped hold code of these, under their own:",
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

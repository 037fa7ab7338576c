// Sentences about files that are not UTF-8: what they are encoded in, and how to change them without changing that.

import type { WideEncoding } from "../../../base/text/text_fault.ts";

/** Quotes a path as one shell word; a leading `~/` stays outside the quotes, where it means the home folder. */
export function shellPath(path: string): string {
  if (path.startsWith("~/")) return `~/${shellPath(path.slice(2))}`;
  return `${path.startsWith("-") ? "./" : ""}'${path.replaceAll("'", "'\\''")}'`;
}

/** Returns the command that prints a file in another encoding as UTF-8. */
export function printAsUtf8(path: string, encoding: string): string {
  return `iconv -f ${encoding} -t UTF-8 ${shellPath(path)}`;
}

/** Returns why edit cannot change a file, and what to do instead. */
export function cannotEdit(path: string, encoding: WideEncoding): string {
  const copy = `${path}.utf8`;
  return `${path} is encoded in ${encoding.exact}, which edit does not support; it was not changed. ` +
    `Make a copy in UTF-8: ${printAsUtf8(path, encoding.name)} > ${shellPath(copy)}. ` +
    `Edit ${copy}. Then convert it back: ${fromUtf8(copy, path, encoding)}`;
}

/** Returns why write must not replace a file, and what to do instead. */
export function cannotWrite(path: string, encoding: WideEncoding): string {
  const copy = `${path}.utf8`;
  return `${path} is encoded in ${encoding.exact}, and write would convert it to UTF-8; it was not written. ` +
    `To keep the encoding, write ${copy}. Then convert it: ${fromUtf8(copy, path, encoding)} ` +
    `To have UTF-8 from now on, remove ${path} first.`;
}

function fromUtf8(from: string, to: string, { exact, mark }: WideEncoding): string {
  const convert = `iconv -f UTF-8 -t ${exact} ${shellPath(from)}`;
  if (mark === null) return `${convert} > ${shellPath(to)}`;
  const octal = mark.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `{ printf '${octal}'; ${convert}; } > ${shellPath(to)}`;
}

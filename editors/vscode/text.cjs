// Texts that the extension reads and writes: references, questions, code blocks, names of models.
// @ts-check
"use strict";

const { relative } = require("node:path");

/**
 * Makes untrusted text safe for notifications, in which `[a](command:b)` is a link that runs b with the person's rights.
 * @param {string} text
 */
const words = (text) => text.replaceAll("](", "] (");

/** @typedef {{ line: number, character: number }} Position */
/** @typedef {{ start: Position, end: Position, isEmpty: boolean }} Selection */

/**
 * Returns a reference to a file for a message of a document, with the selected lines.
 * @param {string} path
 * @param {string} folder the folder of the document
 * @param {Selection} selection
 */
function referenceTo(path, folder, { start, end, isEmpty }) {
  // A selection that ends at the beginning of a line does not include that line.
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  const lines = isEmpty ? "" : `#L${start.line + 1}${last > start.line + 1 ? `-${last}` : ""}`;
  const below = relative(folder, path).replaceAll("\\", "/");
  const spelled = (below.startsWith("../") ? below : `./${below}`).replace(
    /[\s\p{Cc}%;+{#]|[^\p{L}\p{N}]$/gu,
    (character) =>
      encodeURIComponent(character).replace(
        /^(?!%)/,
        () => `%${character.charCodeAt(0).toString(16)}`,
      ),
  );
  return `@${spelled}${lines}`;
}

/** Returns what to append to a conversation so that a message of the person ends with these words. @param {string} text @param {string} words */
function appended(text, words) {
  const roles = [...text.matchAll(/^@(\w+):[ \t]*\r?$/gm)];
  const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  if (roles.at(-1)?.[1] !== "You") return `${gap}@You:\n${words} `;
  const own = text.slice(
    (roles.at(-1)?.index ?? 0) + (roles.at(-1)?.[0].length ?? 0),
  );
  return own.trim() === "" ? `${text.endsWith("\n") ? "" : "\n"}${words} ` : `${gap}${words} `;
}

/** Returns the code block at a line, or the nearest one above, else below; null if there is none. @param {string} text @param {number} line */
function nearestBlock(text, line) {
  /** @type {{ from: number, to: number, code: string }[]} */
  const blocks = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const ticks = /^(`{3,})[^`]*$/.exec(lines[at] ?? "")?.[1];
    if (ticks === undefined) continue;
    const length = lines.slice(at + 1).findIndex((each) =>
      /^`+\s*$/.test(each) && each.trim().length >= ticks.length
    );
    if (length < 0) break;
    blocks.push({
      from: at,
      to: at + length + 1,
      code: lines.slice(at + 1, at + 1 + length).join("\n"),
    });
    at += length + 1;
  }
  return blocks.findLast(({ from }) => from <= line) ?? blocks[0] ?? null;
}

/** False if there is certainly no call or result at a line, which counts from 0. @param {string} text @param {number} line */
function mayBeCall(text, line) {
  const lines = text.split(/\r?\n/);
  const header = lines.slice(0, line + 1).findLastIndex((each) =>
    /^\*\*Tool (?:Use|Result):\*\*|^@(?:You|Assistant|System):/.test(each)
  );
  if (header < 0 || lines[header]?.startsWith("@")) return false;
  const open = lines.findIndex((each, at) => at > header && each.startsWith("```"));
  const ticks = /^`+/.exec(lines[open] ?? "")?.[0] ?? "";
  const close = lines.findIndex((each, at) => at > open && /^`+\s*$/.test(each) && each.startsWith(ticks));
  return open < 0 || close < 0 || line <= close;
}

/**
 * Returns the names of models, and of presets, in the output of `models list --json`.
 * @param {{ models: { name: string, marks: string[] }[] }} listed
 */
function modelNames({ models }) {
  const presets = models.flatMap(({ marks }) => marks.filter((mark) => mark.startsWith("$")));
  return [...presets, ...models.map(({ name }) => name)];
}

module.exports = { appended, mayBeCall, modelNames, nearestBlock, referenceTo, words };

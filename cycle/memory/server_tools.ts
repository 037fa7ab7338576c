// Keeps what tools of providers returned, in the state folder, each file named by the SHA-256 of its bytes.
//
// A tag in a document names such a file, or contains a short one itself. Every payload is kept, which shows whether this
// machine wrote the payload in a document.

import { sameBytes } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { isMissing, readOrNull, replaceSmallFile } from "../../base/files.ts";
import { serverToolsFolder } from "../../base/folders.ts";
import { isSha256, sha256 } from "../../base/hash.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { base64 } from "../../prompt/base64.ts";
import type { Prompt } from "../../prompt/types.ts";
import type { Payload } from "../../providers/server_tools/place.ts";
import type { ServerToolPart } from "../../providers/types.ts";

/** Bytes up to which the document itself contains a payload. */
const MOST_INLINE = 4096;

/** Begins the value of a tag whose payload is stored. */
const STORED = "sha256:";

/** Keeps a payload durably, and returns the value of its tag. Throws the system's errors. */
export async function keepPayload(json: string, environment: Environment): Promise<string> {
  const bytes = new TextEncoder().encode(json);
  const name = await sha256(bytes);
  const folder = serverToolsFolder(environment);
  const path = `${folder}/${name}`;
  const there = await readOrNull(path);
  if (there === null || !sameBytes(there, bytes)) {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await replaceSmallFile(path, bytes, { durable: true });
  }
  return bytes.length > MOST_INLINE ? `${STORED}${name}` : base64(bytes);
}

/**
 * Reads the payloads of a conversation. `isTrusted` is asked only if a payload is not from this machine; if it says yes,
 * such payloads count as this machine's own.
 */
export async function readPayloads(
  { history }: Prompt,
  environment: Environment,
  isTrusted: () => Promise<boolean>,
): Promise<ReadonlyMap<ServerToolPart, Payload>> {
  const payloads = new Map<ServerToolPart, Payload>();
  let trusted: Promise<boolean> | null = null;
  for (const part of history.flatMap(({ parts }) => parts)) {
    if (part.kind !== "server_tool") continue;
    const payload = await readPayload(part.value, environment);
    const isStrange = payload.kind === "there" && !payload.isOwn;
    payloads.set(part, isStrange && await (trusted ??= isTrusted()) ? { ...payload, isOwn: true } : payload);
  }
  return payloads;
}

/** Returns findings about tags whose data is missing or unreadable. */
export async function serverToolFindings(
  { turns }: Pick<Chat, "turns">,
  environment: Environment,
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = [];
  for (const segment of turns.flatMap(({ segments }) => segments)) {
    if (segment.kind !== "server_tool" || (segment.what === "citations" && segment.value === "")) continue;
    const { kind } = await readPayload(segment.value, environment);
    if (kind === "there") continue;
    const { start, end } = segment.place;
    found.push({
      code: `server_tool_${kind}`,
      type: "server_tool",
      severity: "warning",
      message: `${
        kind === "lost"
          ? "What the provider's tool returned is not stored on this machine"
          : "The data of this block of a provider's tool is unreadable"
      }; the model gets only its visible lines.`,
      start,
      end,
    });
  }
  return found;
}

/** Reads the payload that the value of a tag names. */
async function readPayload(value: string, environment: Environment): Promise<Payload> {
  const bytes = value.startsWith(STORED)
    ? await stored(value.slice(STORED.length), environment)
    : bytesOf(value);
  if (bytes === null) return { kind: value.startsWith(STORED) ? "lost" : "unreadable" };
  const name = await sha256(bytes);
  if (value.startsWith(STORED)) {
    // A file that changed is not the one that the document names.
    if (`${STORED}${name}` !== value) return { kind: "lost" };
    return textOf(bytes, true);
  }
  const known = await stored(name, environment);
  return textOf(bytes, known !== null && sameBytes(known, bytes));
}

function textOf(bytes: Uint8Array<ArrayBuffer>, isOwn: boolean): Payload {
  try {
    const json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(json);
    return { kind: "there", json, isOwn };
  } catch {
    // The bytes are not JSON, so flemma did not write them.
    return { kind: "unreadable" };
  }
}

function bytesOf(value: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  } catch {
    // The value is not Base64.
    return null;
  }
}

/** Returns the bytes stored under a name; null if there are none. */
async function stored(name: string, environment: Environment): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!isSha256(name)) return null;
  try {
    return await Deno.readFile(`${serverToolsFolder(environment)}/${name}`);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

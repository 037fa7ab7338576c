// Signatures of thinking that cover its context, as the API's do. The replay signs its thinking with a digest of the
// conversation before it, and checks each block that comes back.

import { sha256 } from "../../../base/hash.ts";
import { isObject } from "../../../base/is_object.ts";
import { type JsonObject, listOf } from "../dialect.ts";
import type { Account } from "../messages.ts";

interface Seal {
  readonly replay: "seal";
  readonly model: string;
  readonly account: string;
  /** Digest of tools, system prompt and earlier messages. */
  readonly prefix: string;
  /** Digest of the signature of the previous thinking, or null. */
  readonly before: string | null;
  /** Digest of the thinking's text. */
  readonly text: string;
}

/**
 * Matches models that check the text before thinking: if it has changed, the request is refused or the thinking is
 * dropped. `CHECKED_ALWAYS` matches those that also check it for old accounts.
 */
const CHECKED = /^claude-(?:fable-5-[12]|mythos-5-[12]|opus-5-5|sonnet-5-5|haiku-5-5)/;
const CHECKED_ALWAYS = /^claude-(?:fable-5-2|mythos-5-[12])/;
/** Matches models whose thinking only the same account can read. */
const BOUND_TO_ACCOUNT = /^claude-(?:sonnet-5-5|haiku-5-5)/;

export interface ThinkingCheck {
  /** Reason why the request is refused, or null. */
  readonly refusal: string | null;
  /** Dropped thinking, as the response reports it. */
  readonly transformations: readonly JsonObject[];
  /** Signature of the last thinking that was used. */
  readonly last: string | null;
}

/** Checks all thinking in a request. `tells` is true if the response must report dropped thinking. */
export async function checkThinking(
  body: JsonObject,
  account: Account,
  tells: boolean,
): Promise<ThinkingCheck> {
  const model = String(body.model);
  const binding = isObject(body.thinking) ? body.thinking.block_binding : undefined;
  const behavior = isObject(binding) ? binding.prefix_mismatch_behavior : undefined;
  const checks = CHECKED.test(model) &&
    (account.old !== true || CHECKED_ALWAYS.test(model) || behavior !== undefined);
  const transformations: JsonObject[] = [];
  let last: string | null = null;
  let dropping = false;
  const drop = (path: string, reason: string) =>
    transformations.push({ type: "thinking_dropped", path, reason });
  for (const { block, path, index } of thinkingOf(body)) {
    const seal = readSeal(block.signature ?? block.data);
    const signature = String(block.signature ?? block.data);
    if (block.type === "thinking" && (typeof block.signature !== "string" || block.signature === "")) {
      return refuse(`${path}: Invalid \`signature\` in \`thinking\` block`);
    }
    if (seal === null) {
      last = await digest(signature);
      continue;
    }
    if (block.type === "thinking" && seal.text !== await digest(String(block.thinking))) {
      return refuse(`${path}: Invalid \`signature\` in \`thinking\` block`);
    }
    if (dropping) {
      drop(path, "prefix_binding_mismatch");
      continue;
    }
    // Thinking that the model cannot read still counts as history: the signature of later thinking depends on it.
    const unread = BOUND_TO_ACCOUNT.test(seal.model) && seal.account !== account.id
      ? "organization_binding_mismatch"
      : canRead(model, seal.model)
      ? null
      : "model_binding_mismatch";
    if (unread !== null) {
      drop(path, unread);
      last = await digest(signature);
      continue;
    }
    if (checks && CHECKED.test(seal.model)) {
      const fits = seal.prefix === await prefixDigest(body, index) &&
        (last === null || seal.before === last);
      if (!fits && behavior === "drop_block") {
        dropping = true;
        drop(path, "prefix_binding_mismatch");
        continue;
      }
      if (!fits) {
        return refuse(
          `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation ` +
            "than the one it was sent with.",
        );
      }
    }
    last = await digest(signature);
  }
  return { refusal: null, transformations: tells ? transformations : [], last };
}

function refuse(refusal: string): ThinkingCheck {
  return { refusal, transformations: [], last: null };
}

export async function seal(
  body: JsonObject,
  account: Account,
  thinking: string,
  before: string | null,
): Promise<{ readonly signature: string; readonly digest: string }> {
  const messages = Array.isArray(body.messages) ? body.messages.length : 0;
  const made: Seal = {
    replay: "seal",
    model: String(body.model),
    account: account.id,
    prefix: await prefixDigest(body, messages),
    before,
    text: await digest(thinking),
  };
  const signature = btoa(JSON.stringify(made));
  return { signature, digest: await digest(signature) };
}

/** True if a model can read another model's thinking. The API refuses some thinking to newer models. */
function canRead(reader: string, writer: string): boolean {
  const is = (name: string, ids: RegExp) => ids.test(name);
  if (is(writer, /^claude-(?:fable|mythos)-5-2/)) return is(reader, /^claude-(?:fable|mythos)-5-2/);
  if (is(writer, /^claude-(?:fable|mythos)/)) return is(reader, /^claude-(?:fable|mythos)/);
  if (is(reader, /^claude-haiku-5-5/)) return is(writer, /^claude-haiku-5-5/);
  if (is(reader, /^claude-sonnet-5-5/)) return !is(writer, /^claude-opus-5/);
  return true;
}

interface Found {
  readonly block: JsonObject;
  readonly path: string;
  readonly index: number;
}

function thinkingOf(body: JsonObject): Found[] {
  return listOf(body.messages).flatMap((message, index) =>
    listOf(isObject(message) ? message.content : undefined).flatMap((block, at): Found[] =>
      isObject(block) && isThinking(block) ? [{ block, path: `messages.${index}.content.${at}`, index }] : []
    )
  );
}

function isThinking({ type }: JsonObject): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function readSeal(signature: unknown): Seal | null {
  try {
    const value: unknown = JSON.parse(atob(String(signature)));
    return isObject(value) && value.replay === "seal" ? value as unknown as Seal : null;
  } catch {
    // A signature from the script or another model cannot be checked.
    return null;
  }
}

/** Digests everything before the message `index`, without thinking and cache marks. */
async function prefixDigest(body: JsonObject, index: number): Promise<string> {
  const messages = listOf(body.messages).slice(0, index).filter(isObject).map(({ role, content }) => ({
    role,
    content: typeof content === "string"
      ? [{ type: "text", text: content }]
      : listOf(content).filter((block) => !isObject(block) || !isThinking(block)),
  })).filter(({ content }) => content.length > 0);
  const system = typeof body.system === "string"
    ? [{ type: "text", text: body.system }]
    : listOf(body.system);
  return await digest(canonical([listOf(body.tools), system, messages]));
}

async function digest(text: string): Promise<string> {
  return (await sha256(text)).slice(0, 16);
}

/** Returns JSON with sorted members, without cache marks. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value).filter((key) => key !== "cache_control").sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

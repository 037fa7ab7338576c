// The secrets that this process knows, and their replacement by their names in text that the program produces.

/** Minimum number of characters of a secret. A shorter value may be an ordinary word. */
const SHORTEST = 12;

/** A known secret in a text. */
export interface FoundSecret {
  readonly name: string;
  /** Position in UTF-16 units. */
  readonly at: number;
}

interface Known {
  readonly name: string;
  /** True for a key with which this program signs in. */
  readonly isKey: boolean;
}

/** Known secrets. The key is the value of a secret, in each form in which text may contain it. */
const known = new Map<string, Known>();

/**
 * Matches every known secret; a longer secret is tried before a shorter one. Null if the pattern must be built again.
 */
let pattern: RegExp | null = null;

/**
 * Adds a secret. Values shorter than 12 characters and paths are not secrets.
 *
 * @param name what the text shows in its place, such as the variable that contains it
 * @param value the secret
 * @param options `isKey` for a key with which this program signs in: no request may carry it in its body
 */
export function learnSecret(name: string, value: string, { isKey = false } = {}): void {
  const secret = value.trim();
  // A variable such as GOOGLE_APPLICATION_CREDENTIALS names a file, and its path is not a secret.
  if (secret.length < SHORTEST || /^(?:~|\.{0,2})\//.test(secret)) return;
  const before = known.get(secret);
  if (before !== undefined && (before.isKey || !isKey)) return;
  // In JSON and in URLs, some characters are written in another way.
  for (
    const form of new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret.toWellFormed()),
    ])
  ) {
    known.set(form, { name: before?.name ?? name, isKey });
  }
  pattern = null;
}

/** Replaces every known secret by its name in brackets. */
export function hideSecrets(text: string): string {
  if (known.size === 0 || text.length < SHORTEST) return text;
  return text.replace(patternNow(), (value) => `[${known.get(value)!.name}]`);
}

/**
 * Replaces every known secret in the texts of a JSON value. If the value contains no secret, returns the same object.
 */
export function hideSecretsIn<T>(value: T): T {
  return known.size === 0 ? value : hidden(value) as T;
}

function hidden(value: unknown): unknown {
  if (typeof value === "string") return hideSecrets(value);
  if (typeof value !== "object" || value === null) return value;
  // Other objects, such as buffers and dates, are not plain data.
  const isPlain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value));
  if (!isPlain) return value;
  let changed = false;
  const replaced = Object.entries(value).map(([key, member]) => {
    const [newKey, next] = [Array.isArray(value) ? key : hideSecrets(key), hidden(member)];
    changed ||= newKey !== key || next !== member;
    return [newKey, next] as const;
  });
  if (!changed) return value;
  return Array.isArray(value) ? replaced.map(([, member]) => member) : Object.fromEntries(replaced);
}

/** The secrets whose names in brackets occur in a text, as `hideSecrets` writes them. */
export function hiddenSecretsIn(text: string): readonly { readonly name: string; readonly value: string }[] {
  return [...known].map(([value, { name }]) => ({ name, value })).filter(({ name }) =>
    text.includes(`[${name}]`)
  );
}

/** The first API key in a text that equals a key that flemma uses; null if there is none. */
export function findOwnKey(text: string): FoundSecret | null {
  if (known.size === 0) return null;
  for (const { 0: value, index } of text.matchAll(patternNow())) {
    const { name, isKey } = known.get(value)!;
    if (isKey) return { name, at: index };
  }
  return null;
}

function patternNow(): RegExp {
  const longestFirst = [...known.keys()].sort((a, b) => b.length - a.length);
  return pattern ??= new RegExp(longestFirst.map(literal).join("|"), "g");
}

function literal(text: string): string {
  return text.replace(/[\\^$.|?+()[\]{}*/-]/g, "\\$&");
}

/** Replaces known secrets in a text that arrives in pieces. */
export class SecretStream {
  /** The end of the text so far, if it may be the beginning of a secret. */
  #held = "";

  /** The next piece, as far as it is certain. */
  write(piece: string): string {
    if (known.size === 0 && this.#held === "") return piece;
    const text = this.#held + piece;
    let out = "";
    let reached = 0;
    for (const { 0: value, index } of text.matchAll(patternNow())) {
      // A longer secret may begin with this one.
      const held = text.slice(index);
      if (isBeginning(held)) {
        this.#held = held;
        return out + text.slice(reached, index);
      }
      out += `${text.slice(reached, index)}[${known.get(value)!.name}]`;
      reached = index + value.length;
    }
    const tail = text.slice(reached);
    const from = heldFrom(tail);
    this.#held = tail.slice(from);
    return out + tail.slice(0, from);
  }

  /** The held-back end. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return hideSecrets(rest);
  }
}

/** True if a longer secret begins with a text. */
function isBeginning(text: string): boolean {
  return known.keys().some((value) => value.length > text.length && value.startsWith(text));
}

/**
 * If the end of a text may be the beginning of a secret, returns where this end begins; otherwise the length of the
 * text.
 */
function heldFrom(text: string): number {
  let from = text.length;
  for (const value of known.keys()) {
    const longest = Math.min(value.length - 1, text.length);
    for (let length = longest; length > text.length - from; length--) {
      if (text.endsWith(value.slice(0, length))) from = text.length - length;
    }
  }
  return from;
}

/** Replaces known secrets in bytes that arrive in pieces. */
export class SecretByteStream {
  readonly #stream = new SecretStream();

  /** The next piece, as far as it is certain. */
  write(piece: Uint8Array): Uint8Array {
    return known.size === 0 ? piece : bytesOf(this.#stream.write(textOf(piece)));
  }

  /** The held-back end. */
  end(): Uint8Array {
    return bytesOf(this.#stream.end());
  }
}

/** One character per byte. Keys and their names are ASCII; other secrets are found when the bytes are text. */
function textOf(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

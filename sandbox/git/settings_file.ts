// Reader for git configuration files, character by character as git reads them (config.c), with the place of each entry.

/** A configuration has some hundred bytes. Limits memory if a command writes a huge one. */
export const CONFIG_BYTES = 64 * 1024;

export interface GitSetting {
  /** Section and name in lower case. The subsection between them is as written: `filter.Crypt.clean`. */
  readonly key: string;
  readonly value: string;
}

/** A setting and its place in the text. */
export interface PlacedSetting extends GitSetting {
  /** Offset of its first character, and the offset behind its last line. */
  readonly start: number;
  readonly end: number;
}

/** The settings of a text. If any part of the text is invalid, git refuses the whole file. */
export interface SettingsText {
  readonly settings: readonly PlacedSetting[];
  readonly valid: boolean;
}

/** Number of texts whose settings are cached, and the longest such text. */
const MOST_CACHED = 500;
const LONGEST_CACHED = 4096;

const cached = new Map<string, SettingsText>();

/**
 * Reads a configuration. Settings before an error are included. The settings of short texts are cached: a run reads each
 * configuration several times, and many repositories have the same text.
 */
export function readGitSettings(text: string): SettingsText {
  const known = cached.get(text);
  if (known !== undefined) return known;
  const reader = new Reader(text);
  // For git, a NUL character ends a name or value early.
  const read = { valid: reader.read() && !text.includes("\0"), settings: reader.settings };
  if (text.length <= LONGEST_CACHED && cached.size < MOST_CACHED) cached.set(text, read);
  return read;
}

const SPACE = /[ \t\n\r]/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"' };

class Reader {
  readonly settings: PlacedSetting[] = [];
  readonly #text: string;
  #at = 0;
  #section = "";

  constructor(text: string) {
    this.#text = text;
    // Text may have been read as UTF-8 or as Latin-1.
    this.#at = /^(?:\uFEFF|\u00EF\u00BB\u00BF|)/.exec(text)![0].length;
  }

  /** Whether git accepts the text. */
  read(): boolean {
    while (this.#at < this.#text.length) {
      const start = this.#at;
      const character = this.#next();
      if (SPACE.test(character)) continue;
      if (character === "#" || character === ";") this.#skipLine();
      else if (character === "[") {
        if (!this.#readSection()) return false;
      } else if (!/[A-Za-z]/.test(character) || !this.#readEntry(start)) return false;
    }
    return true;
  }

  /** The next character; a line feed at the end of the text, as in git. */
  #next(): string {
    const character = this.#text[this.#at++] ?? "\n";
    if (character === "\r" && this.#text[this.#at] === "\n") {
      this.#at++;
      return "\n";
    }
    return character;
  }

  #skipLine(): void {
    while (this.#next() !== "\n");
  }

  #readSection(): boolean {
    let name = "";
    for (;;) {
      if (this.#at >= this.#text.length) return false;
      const character = this.#next();
      if (character === "]") break;
      if (SPACE.test(character)) {
        const sub = this.#readSubsection(character);
        if (sub === null) return false;
        this.#section = `${name}.${sub}.`;
        return true;
      }
      if (!/[A-Za-z0-9.-]/.test(character)) return false;
      name += character.toLowerCase();
    }
    this.#section = `${name}.`;
    return name !== "";
  }

  #readSubsection(first: string): string | null {
    let character = first;
    while (SPACE.test(character)) {
      if (character === "\n") return null;
      character = this.#next();
    }
    if (character !== '"') return null;
    let sub = "";
    for (;;) {
      character = this.#next();
      if (character === "\n") return null;
      if (character === '"') break;
      if (character === "\\") {
        character = this.#next();
        if (character === "\n") return null;
      }
      sub += character;
    }
    return this.#next() === "]" ? sub : null;
  }

  #readEntry(start: number): boolean {
    this.#at = start;
    let name = "";
    let character = this.#next();
    while (/[A-Za-z0-9-]/.test(character)) {
      name += character.toLowerCase();
      if (this.#at >= this.#text.length) break;
      character = this.#next();
    }
    // If the text ends here, its last character is still part of the name.
    if (/[A-Za-z0-9-]/.test(character)) character = "\n";
    while (character === " " || character === "\t") character = this.#next();
    let value: string | null = "true";
    if (character !== "\n") {
      if (character !== "=") return false;
      value = this.#readValue();
      if (value === null) return false;
    }
    // A setting without a section is not valid.
    if (this.#section === "") return false;
    const end = Math.min(this.#at, this.#text.length);
    this.settings.push({ key: `${this.#section}${name}`, value, start, end });
    return true;
  }

  #readValue(): string | null {
    let value = "";
    let trimmed = -1;
    let quoted = false;
    for (;;) {
      let character = this.#next();
      if (character === "\n") {
        if (quoted) return null;
        return trimmed >= 0 ? value.slice(0, trimmed) : value;
      }
      if (SPACE.test(character) && !quoted) {
        if (trimmed < 0) trimmed = value.length;
        if (value !== "") value += character;
        continue;
      }
      if (!quoted && (character === "#" || character === ";")) {
        this.#skipLine();
        return trimmed >= 0 ? value.slice(0, trimmed) : value;
      }
      trimmed = -1;
      if (character === "\\") {
        character = this.#next();
        if (character === "\n") continue;
        const escaped = ESCAPES[character];
        if (escaped === undefined) return null;
        value += escaped;
      } else if (character === '"') quoted = !quoted;
      else value += character;
    }
  }
}

/** A setting as a section of its own, as text. */
export function settingAsText({ key, value }: GitSetting): string {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  const sub = first === last ? "" : ` "${key.slice(first + 1, last).replace(/["\\]/g, "\\$&")}"`;
  const quoted = value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll(
    "\b",
    "\\b",
  );
  return `[${key.slice(0, first)}${sub}]\n\t${key.slice(last + 1)} = "${quoted}"\n`;
}

// Versions and the changelog: which version may come next, and its changelog entry.

/** A version of three numbers, and its pre-release part after a `-`. */
export interface Version {
  readonly numbers: readonly [number, number, number];
  readonly before: string | null;
}

/** Parses a semantic version without build metadata; null if it is invalid. */
export function parseVersion(text: string): Version | null {
  const number = "(0|[1-9]\\d{0,8})";
  const parts = new RegExp(`^${number}\\.${number}\\.${number}(?:-([0-9a-z]+(?:\\.[0-9a-z]+)*))?$`).exec(
    text,
  );
  if (parts === null) return null;
  const before = parts[4] ?? null;
  if (before?.split(".").some((part) => /^0\d+$/.test(part))) return null;
  return { numbers: [Number(parts[1]), Number(parts[2]), Number(parts[3])], before };
}

/** Compares two versions: negative, zero or positive, if the first version is lower, equal or higher. */
export function compareVersions(a: Version, b: Version): number {
  const at = a.numbers.findIndex((number, index) => number !== b.numbers[index]);
  if (at >= 0) return a.numbers[at]! - b.numbers[at]!;
  if (a.before === null || b.before === null) return Number(b.before !== null) - Number(a.before !== null);
  return compareBefore(a.before.split("."), b.before.split("."));
}

/** Compares pre-release parts. Numbers precede words and are compared as numbers; a longer list is higher. */
function compareBefore(a: readonly string[], b: readonly string[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [first, second] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (first && second) return Number(one) - Number(other);
    if (first !== second) return first ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}

/** A section of the changelog: its heading without the marks, and the text below. */
export interface Section {
  readonly heading: string;
  readonly text: string;
}

/** Returns the sections of a changelog, one for each version and one for unreleased changes. */
export function sectionsOf(changelog: string): Section[] {
  return changelog.split(/^## /m).slice(1).map((section) => {
    const end = section.indexOf("\n");
    const heading = end < 0 ? section : section.slice(0, end);
    return { heading: heading.trim(), text: end < 0 ? "" : section.slice(end).trim() };
  });
}

/** Returns the changelog entry of a version; null if it has no section. */
export function entryOf(changelog: string, version: string): string | null {
  const found = sectionsOf(changelog).find(({ heading }) => heading.split(" ")[0] === version);
  return found?.text ?? null;
}

/** Returns the changelog entry of a version as a page of its own: its links lead to the unpacked archive at an address. */
export function notesOf(changelog: string, version: string, address: string): string {
  const entry = entryOf(changelog, version) ?? "";
  return `${entry.replaceAll(/\]\((?!https?:)/g, `](${address}/flemma-${version}/`)}\n`;
}

/** Returns the unreleased changes; null if there is no such section. */
export function unreleased(changelog: string): string | null {
  return sectionsOf(changelog).find(({ heading }) => heading === UNRELEASED)?.text ?? null;
}

const UNRELEASED = "Unreleased";

/** Returns the changelog with unreleased changes moved under a version. */
export function withVersion(changelog: string, version: string, day: string): string {
  return changelog.replace(/^## Unreleased[ \t]*$/m, `## ${version} (${day})`);
}

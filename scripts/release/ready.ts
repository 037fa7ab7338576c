// Decides whether a checkout can be released. Pure.

import { compareVersions, entryOf, parseVersion, unreleased } from "./version.ts";

/** A checkout, described by git and its files. */
export interface Checkout {
  /** The output of `git status --porcelain`. */
  readonly changes: string;
  /** The version in `deno.json`. */
  readonly version: string;
  readonly changelog: string;
  readonly tags: readonly string[];
}

/** A reason not to release, and what to do about it. */
export interface Obstacle {
  readonly message: string;
  readonly next: string;
}

/** Returns everything that prevents releasing a checkout as its version; empty if nothing does. */
export function obstaclesToRelease(checkout: Checkout): Obstacle[] {
  const { version, changelog } = checkout;
  const entry = entryOf(changelog, version);
  return [
    ...inTree(checkout),
    ...inVersion(version, checkout.tags),
    ...(entry === null || entry === ""
      ? [{
        message: `CHANGELOG.md has no entry for ${version}.`,
        next:
          `Write what changed below "## ${version}", or let \`deno task release prepare ${version}\` do it.`,
      }]
      : []),
    ...(unreleased(changelog) ?? "") !== ""
      ? [{
        message: "CHANGELOG.md has changes without a version.",
        next: `Move the text below "## Unreleased" to ${version}.`,
      }]
      : [],
  ];
}

/** Returns everything that prevents preparing a version in a checkout. */
export function obstaclesToPrepare(checkout: Checkout, version: string): Obstacle[] {
  const { changelog } = checkout;
  return [
    ...inTree(checkout),
    ...inVersion(version, checkout.tags),
    ...(entryOf(changelog, version) === null
      ? []
      : [{ message: `CHANGELOG.md already has ${version}.`, next: "Choose the next version." }]),
    ...(unreleased(changelog) ?? "") === ""
      ? [{
        message: "CHANGELOG.md has no unreleased changes.",
        next: 'Write what changed below "## Unreleased".',
      }]
      : [],
  ];
}

function inTree({ changes }: Checkout): Obstacle[] {
  const paths = changes.split("\n").filter((line) => line !== "").map((line) => line.slice(3));
  if (paths.length === 0) return [];
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return [{
    message: `There are uncommitted changes: ${paths.slice(0, 3).join(", ")}${more}.`,
    next: "Commit or stash them.",
  }];
}

function inVersion(text: string, tags: readonly string[]): Obstacle[] {
  const version = parseVersion(text);
  if (version === null) {
    return [{
      message: `"${text}" is not a version.`,
      next: "A version has three numbers, such as 1.4.0; a pre-release is for example 1.4.0-rc.1.",
    }];
  }
  const released = tags.filter((tag) => tag.startsWith("v")).map((tag) => parseVersion(tag.slice(1)))
    .filter((one) => one !== null).sort(compareVersions).at(-1);
  if (released === undefined || compareVersions(version, released) > 0) return [];
  const last = `${released.numbers.join(".")}${released.before === null ? "" : `-${released.before}`}`;
  return [{
    message: `${text} is not higher than ${last}, which is released.`,
    next: "Choose a higher version.",
  }];
}

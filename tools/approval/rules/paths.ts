// Decides whether a path matches the patterns of a rule, by real paths on both sides.

import { expandHome, isInside, normalPath } from "../../../base/paths.ts";
import { readGlob } from "../../../base/text/glob.ts";
import { fixedFront, type PathPattern } from "../../../config/rules/path_pattern.ts";
import type { RuleWorld } from "./world.ts";

/** Context of patterns. */
export interface PatternBase {
  /** The folder for relative patterns; null if there is none. Without a folder, relative patterns match nothing. */
  readonly folder: string | null;
  /** Expands forms such as `urn:flemma:cwd` and `$NAME` to a path; null if the form has no value. */
  expand(front: string): string | null;
}

/** A requested absolute path, and where it leads. */
export interface CheckedPath {
  readonly asked: string;
  readonly real: string;
}

/**
 * How patterns of a rule match. In an approving rule, they match only the real path. In a rule that asks or denies,
 * they match the real or the requested path, and a pattern for a name matches at any depth.
 */
export type Reading = "approve" | "restrict";

/** True if a path matches one of the patterns and none of the excluding ones. */
export function fitsPatterns(
  patterns: readonly PathPattern[],
  path: CheckedPath,
  how: { readonly base: PatternBase; readonly reading: Reading; readonly world: RuleWorld },
): boolean {
  const { reading } = how;
  // A pattern that excludes paths from an approval matches as in a denying rule, so that another spelling of a path
  // cannot bypass it.
  const opposite: Reading = reading === "approve" ? "restrict" : "approve";
  return patterns.some((pattern) => !pattern.excludes && fits(pattern, path, { ...how, reading })) &&
    !patterns.some((pattern) => pattern.excludes && fits(pattern, path, { ...how, reading: opposite }));
}

function fits(
  pattern: PathPattern,
  { asked, real }: CheckedPath,
  { base, reading, world }: {
    readonly base: PatternBase;
    readonly reading: Reading;
    readonly world: RuleWorld;
  },
): boolean {
  const paths = reading === "approve" ? [real] : [real, asked];
  const anyCase = reading === "restrict" && world.ignoresCase(real);
  return placesOf(pattern, base, reading, world).some(({ front, rest }) => {
    const glob = readGlob(rest);
    // Each pattern was checked together with its rule, so the part after its fixed prefix is valid too.
    if (!glob.ok) return reading === "restrict";
    return paths.some((path) => {
      const fold = (text: string) => (anyCase ? text.toLowerCase() : text);
      const below = front === "/" ? path : path.slice(front.length);
      const starts = front === "/" || fold(path).startsWith(fold(front));
      if (!starts || !glob.value.matches(below, anyCase)) return false;
      return reading === "restrict" || !world.crossesMount(front, path);
    });
  });
}

/** A pattern split into a fixed folder, real and as written, and the part after that folder. */
interface Place {
  readonly front: string;
  readonly rest: string;
}

function placesOf({ glob }: PathPattern, base: PatternBase, reading: Reading, world: RuleWorld): Place[] {
  const floating = isFloating(glob);
  if (floating) {
    const rest = glob.includes("/") || glob.startsWith("**")
      ? `/${glob.replace(/^\*\*\//, "**/")}`
      : `/**/${glob}`;
    if (reading === "restrict") return [{ front: "/", rest }];
    if (base.folder === null) return [];
    const front = world.real(base.folder, "/");
    return front === null ? [] : [{ front: withoutSlash(front), rest }];
  }
  const expanded = absolute(glob, base, world);
  if (expanded === null) return [];
  const fixed = fixedFront(expanded);
  const rest = expanded.slice(fixed.length);
  const real = world.real(fixed, "/");
  const fronts = [...(real === null ? [] : [real]), ...(reading === "restrict" ? [normalPath(fixed)] : [])];
  return [...new Set(fronts)].map((front) => ({
    front: withoutSlash(front),
    rest: rest === "" ? "" : `/${rest}`,
  }));
}

/** True if a pattern matches at any depth: it has no slash, or begins with `**`. */
function isFloating(glob: string): boolean {
  return glob.startsWith("**") || (!glob.includes("/") && !/^(?:~|\.{1,2}|\$.*|urn:.*)$/.test(glob));
}

function absolute(glob: string, base: PatternBase, world: RuleWorld): string | null {
  if (glob.startsWith("/")) return glob;
  if (glob === "~" || glob.startsWith("~/")) return expandHome(glob, world.home);
  if (glob.startsWith("$") || glob.startsWith("urn:")) {
    const slash = glob.indexOf("/");
    const front = base.expand(slash === -1 ? glob : glob.slice(0, slash));
    return front === null ? null : `${front}${slash === -1 ? "" : glob.slice(slash)}`;
  }
  return base.folder === null ? null : `${base.folder}/${glob.replace(/^(?:\.\/)+/, "")}`;
}

function withoutSlash(path: string): string {
  return path !== "/" && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Matches files that contain policy of projects, at any depth: settings, tools, hooks, servers. */
const POLICY_NAME = /\/(?:\.flemma(?:\/|$)|\.mcp\.json$)/i;

/** System folders without ordinary files: nothing below them is ever approved. */
const SYSTEM: readonly string[] = ["/proc", "/sys", "/dev"];

/**
 * Returns why no rule may approve a path, as the end of a sentence about the path; null if a rule may.
 *
 * @param writes whether the tool writes to the path
 */
export function neverApproved(
  { asked, real }: CheckedPath,
  world: RuleWorld,
  writes: boolean,
): string | null {
  for (const folder of SYSTEM) {
    if (isInside(asked, folder) || isInside(real, folder)) return `is below ${folder}`;
  }
  const kind = world.kind(real);
  if (kind === "other") return "is neither a file nor a folder";
  if (!writes) return null;
  if (kind === "file" && world.links(real) > 1) return "has several hard links";
  return mustStay(real, world) ? "is protected" : null;
}

/** True if no rule may approve changing a real path. */
export function mustStay(real: string, world: RuleWorld): boolean {
  return POLICY_NAME.test(real) || world.isProtected(real);
}

/** True if a pattern could match something below a folder. True if unsure. */
export function reachesBelow(
  pattern: PathPattern,
  folder: string,
  base: PatternBase,
  world: RuleWorld,
): boolean {
  return placesOf(pattern, base, "restrict", world)
    .some(({ front }) => front === "/" || isInside(front, folder) || isInside(folder, front));
}

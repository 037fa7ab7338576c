// The bill of materials: everything of others that is shipped or brought along, in the form of CycloneDX 1.6.

import type { Component } from "../build/bundled.ts";

/** The newest version of the form that other programs read widely. */
const FORM = "1.6";

export interface SbomOptions {
  readonly version: string;
  /** What is in the files that are shipped. */
  readonly components: readonly Component[];
  /** What is installed along by a package manager: packages with their ranges. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Hashes of packages as the lock file has them, `NAME@VERSION` to `sha512-…`. */
  readonly integrity: ReadonlyMap<string, string>;
  /** Seconds since 1970 at which the release was made. */
  readonly epoch: number;
}

/** The bill as plain JSON values. */
export function sbom(
  { version, components, dependencies, integrity, epoch }: SbomOptions,
): Record<string, unknown> {
  const reference = `flemma@${version}`;
  const shipped = components.map((one) => shippedComponent(one, integrity));
  const brought = Object.entries(dependencies).map(([name, range]) => ({
    type: "library",
    "bom-ref": `${name}@${range}`,
    ...nameOf(name),
    version: range.replace(/^\^/, ""),
    scope: name.startsWith("@deno/") ? "optional" : "required",
    purl: purlOf(name, range.replace(/^\^/, "")),
  }));
  return {
    bomFormat: "CycloneDX",
    specVersion: FORM,
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": reference,
        name: "flemma",
        version,
        licenses: [{ license: { id: "MIT" } }],
        purl: purlOf("flemma", version),
      },
    },
    components: [...shipped, ...brought],
    dependencies: [{ ref: reference, dependsOn: [...shipped, ...brought].map((one) => one["bom-ref"]) }],
  };
}

function shippedComponent(
  { name, version, licence, isPackage }: Component,
  integrity: ReadonlyMap<string, string>,
) {
  const hash = integrity.get(`${name}@${version}`);
  return {
    type: "library",
    "bom-ref": `bundled:${name}@${version}`,
    ...nameOf(name),
    version,
    scope: "required",
    licenses: [{ license: { id: licence } }],
    ...(isPackage ? { purl: purlOf(name, version) } : {}),
    ...(isPackage && hash?.startsWith("sha512-")
      ? { hashes: [{ alg: "SHA-512", content: Uint8Array.fromBase64(hash.slice(7)).toHex() }] }
      : {}),
  };
}

function nameOf(name: string): { group?: string; name: string } {
  const [group, inner] = name.split("/");
  return inner === undefined ? { name } : { group: group!, name: inner };
}

/** The address of a package among all kinds of packages. */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** The hashes that a lock file of Deno has. */
export function integrityIn(lock: string): Map<string, string> {
  const { npm } = JSON.parse(lock) as { npm: Readonly<Record<string, { readonly integrity?: string }>> };
  // Behind the version may stand with which other packages it was resolved.
  const names = (key: string) => /^@?[^@]+@[^_]+/.exec(key)![0];
  return new Map(
    Object.entries(npm).flatMap(([key, { integrity }]) =>
      integrity === undefined ? [] : [[names(key), integrity]]
    ),
  );
}

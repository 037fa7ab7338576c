// The bill of materials: all third-party components that are shipped or installed with it, as CycloneDX 1.6 by its own
// library.

import * as cyclonedx from "@cyclonedx/cyclonedx-library";
import type { Component } from "../build/bundled.ts";

const { Enums, Models, Serialize, SPDX, Spec } = cyclonedx;

export interface SbomOptions {
  readonly version: string;
  /** Components in the shipped files. */
  readonly components: readonly Component[];
  /** Packages that a package manager also installs, with their version ranges. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Hashes of packages from the lock file, `NAME@VERSION` to `sha512-…`. */
  readonly integrity: ReadonlyMap<string, string>;
  /** Time of the release in seconds since 1970. */
  readonly epoch: number;
}

/**
 * Returns the bill as JSON text. The same options make the same text.
 * @throws if a license is not in the SPDX list
 */
export function sbom({ version, components, dependencies, integrity, epoch }: SbomOptions): string {
  const own = libraryComponent("flemma", version, { bomRef: `flemma@${version}` });
  own.type = Enums.ComponentType.Application;
  own.licenses.add(new Models.SpdxLicense("MIT"));
  own.purl = purlOf("flemma", version);
  const parts = [
    ...components.map((one) => shippedComponent(one, integrity)),
    ...Object.entries(dependencies).map(([name, range]) => installedComponent(name, range)),
  ];
  for (const { bomRef } of parts) own.dependencies.add(bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ timestamp: new Date(epoch * 1000), component: own }),
    components: new Models.ComponentRepository(parts),
  });
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normalizers).serialize(bom, { sortLists: true, space: 2 });
}

function shippedComponent(
  { name, version, license, isPackage }: Component,
  integrity: ReadonlyMap<string, string>,
) {
  const component = libraryComponent(name, version, { bomRef: `bundled:${name}@${version}` });
  // The library would write such a license as a name that no program recognizes.
  if (!SPDX.isSupportedSpdxId(license)) throw new Error(`${name}: SPDX does not list the license ${license}`);
  component.licenses.add(new Models.SpdxLicense(license));
  if (!isPackage) return component;
  component.purl = purlOf(name, version);
  const hash = integrity.get(`${name}@${version}`);
  if (hash?.startsWith("sha512-")) {
    component.hashes.set(Enums.HashAlgorithm["SHA-512"], Uint8Array.fromBase64(hash.slice(7)).toHex());
  }
  return component;
}

function installedComponent(name: string, range: string) {
  const version = range.replace(/^\^/, "");
  const component = libraryComponent(name, version, { bomRef: `${name}@${range}` });
  component.purl = purlOf(name, version);
  if (name.startsWith("@deno/")) component.scope = Enums.ComponentScope.Optional;
  return component;
}

function libraryComponent(name: string, version: string, { bomRef }: { readonly bomRef: string }) {
  const [group, inner] = name.split("/");
  const scope = Enums.ComponentScope.Required;
  const named = inner === undefined ? { version, bomRef, scope } : { version, bomRef, scope, group };
  return new Models.Component(Enums.ComponentType.Library, inner ?? name, named);
}

/** Returns the package URL (purl). */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Returns the hashes in a lock file of Deno. */
export function integrityIn(lock: string): Map<string, string> {
  const { npm } = JSON.parse(lock) as { npm: Readonly<Record<string, { readonly integrity?: string }>> };
  // The version may be followed by the packages with which it was resolved.
  const names = (key: string) => /^@?[^@]+@[^_]+/.exec(key)![0];
  return new Map(
    Object.entries(npm).flatMap(([key, { integrity }]) =>
      integrity === undefined ? [] : [[names(key), integrity]]
    ),
  );
}

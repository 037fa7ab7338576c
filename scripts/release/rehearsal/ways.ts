// The ways to install that are rehearsed on fresh machines, with the commands of docs/reference/install.md.

export interface Way {
  readonly name: string;
  /** What is on the machine before, as root's script. */
  readonly given?: string;
  /** What the person types, as root if `needsRoot`. */
  readonly install: string;
  readonly needsRoot?: boolean;
  /** The command `flemma`, if the way does not install it. */
  readonly start?: string;
  /** The backend of the sandbox that `flemma demo` names. */
  readonly sandbox: "bwrap" | "landlock";
  readonly remove: string;
  /** Files that other programs leave: apt's lists and logs, caches of npm. */
  readonly others?: RegExp;
}

/** Lists and logs of apt and dpkg, and the list of libraries. */
const APT_FILES = /^\/var\/(cache|lib|log)\/|^\/etc\/ld\.so\.cache$/;

const APT = "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq";
const DENO = "install /release/programs/deno /usr/local/bin/deno";

/** Installs Debian's packages and Deno. */
export const withPackages = (...names: readonly string[]): string =>
  `${APT}; apt-get install -y -qq --no-install-recommends ${names.join(" ")}; ${DENO}`;

/** @param address where the unpacked archive is served */
export function waysOf(version: string, address: string): readonly Way[] {
  const debian = (name: string, options: string, sandbox: Way["sandbox"]): Way => ({
    name: `Debian package${name}`,
    given: APT,
    install: `DEBIAN_FRONTEND=noninteractive apt install -y ${options} /release/flemma_${version}_amd64.deb`,
    needsRoot: true,
    sandbox,
    remove: "apt purge -y flemma && apt autopurge -y",
    others: APT_FILES,
  });
  return [
    debian("", "", "bwrap"),
    debian(", without bubblewrap", "--no-install-recommends", "landlock"),
    {
      name: "archive, Deno alone",
      given: DENO,
      install: `tar -xzf /release/flemma-${version}.tar.gz`,
      start: `deno run -A ~/flemma-${version}/flemma.js`,
      sandbox: "landlock",
      remove: `rm -r flemma-${version}`,
    },
    {
      name: "address, installed by Deno",
      given: withPackages("bubblewrap"),
      install: `deno install -g -A -n flemma ${address}/flemma.js`,
      sandbox: "bwrap",
      remove: "deno uninstall -g flemma",
    },
    {
      name: "address, without an install",
      given: DENO,
      install: "true",
      start: `deno run -A ${address}/flemma.js`,
      sandbox: "landlock",
      remove: "true",
    },
    ...["node20", "node22", "node24"].map((node): Way => ({
      name: `npm package, ${node} alone`,
      given: `ln -s /release/programs/${node}/bin/node /usr/local/bin/node
        printf '#!/bin/sh\\nexec node /release/programs/npm10/bin/npm-cli.js "$@"\\n' > /usr/local/bin/npm
        chmod 755 /usr/local/bin/npm`,
      install: `npm install -g --prefix ~/.local /release/flemma-${version}.tgz`,
      sandbox: "landlock",
      remove: "npm uninstall -g --prefix ~/.local flemma",
      others: /^\/home\/user\/\.npm\/|^\/tmp\/node-compile-cache\//,
    })),
  ];
}

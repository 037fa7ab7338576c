// Where package managers and compilers keep what they fetch and build: one folder for each, chosen by the variable of
// the tool itself. Data for the table in docs/reference/sandbox.md.

import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";

/** Variable → folder below the cache folder. */
const FOLDERS: Readonly<Record<string, string>> = {
  npm_config_cache: "npm",
  npm_package_config_node_gyp_devdir: "node-gyp",
  COREPACK_HOME: "corepack",
  PNPM_HOME: "pnpm",
  YARN_CACHE_FOLDER: "yarn",
  YARN_GLOBAL_FOLDER: "yarn-global",
  BUN_INSTALL_CACHE_DIR: "bun",
  DENO_DIR: "deno",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  POETRY_CACHE_DIR: "poetry",
  PIPENV_CACHE_DIR: "pipenv",
  PRE_COMMIT_HOME: "pre-commit",
  PYLINTHOME: "pylint",
  BLACK_CACHE_DIR: "black",
  CARGO_HOME: "cargo",
  GOPATH: "go",
  GOMODCACHE: "go/pkg/mod",
  GOCACHE: "go-build",
  GOLANGCI_LINT_CACHE: "golangci-lint",
  GRADLE_USER_HOME: "gradle",
  MAVEN_USER_HOME: "maven",
  BUNDLE_USER_CACHE: "bundle",
  BUNDLE_USER_PLUGIN: "bundle-plugin",
  GEM_HOME: "gem",
  GEM_SPEC_CACHE: "gem-specs",
  COMPOSER_CACHE_DIR: "composer",
  NUGET_PACKAGES: "nuget",
  NUGET_HTTP_CACHE_PATH: "nuget-http",
  PUB_CACHE: "pub",
  CCACHE_DIR: "ccache",
  SCCACHE_DIR: "sccache",
  ZIG_GLOBAL_CACHE_DIR: "zig",
};

/**
 * Configuration files in a folder of the person that also contains fetched packages. Links in the private cache folder
 * show these files.
 */
const SHOWN: readonly {
  readonly variable: string;
  readonly usual: string;
  readonly files: readonly string[];
}[] = [
  {
    variable: "CARGO_HOME",
    usual: ".cargo",
    files: ["config.toml", "config", "credentials.toml", "credentials"],
  },
  {
    variable: "GRADLE_USER_HOME",
    usual: ".gradle",
    files: ["gradle.properties", "init.gradle", "init.gradle.kts", "init.d"],
  },
];

/** A link in a cache folder to the person's own configuration. */
export interface ShownFile {
  /** Absolute path of the link in the cache folder. */
  readonly link: string;
  /** Absolute path of the person's file, to which it leads. */
  readonly target: string;
}

/** The variables that make tools use a cache folder instead of those in the home folder. */
export function cacheVariables(folder: string, { home, variables }: Environment): Record<string, string> {
  const found = Object.fromEntries(
    Object.entries(FOLDERS).map(([name, path]) => [name, `${folder}/${path}`]),
  );
  // npm reads either spelling, and a copy across file systems needs no warning.
  if (Object.hasOwn(variables, "NPM_CONFIG_CACHE")) found.NPM_CONFIG_CACHE = found.npm_config_cache!;
  found.UV_LINK_MODE = "copy";
  // Maven has no variable for its repository, only this option.
  found.MAVEN_OPTS = `${variables.MAVEN_OPTS ?? ""} -Dmaven.repo.local=${folder}/maven/repository`.trim();
  // Commands use the interpreters that the person's uv has fetched. If there are none, uv needs a folder for new ones.
  if (!isThere(`${home}/.local/share/uv/python`)) found.UV_PYTHON_INSTALL_DIR = `${folder}/uv-python`;
  // Gems in the person's own folder stay readable.
  const gems = [variables.GEM_HOME, variables.GEM_PATH].filter(Boolean).join(":");
  if (gems !== "") found.GEM_PATH = `${found.GEM_HOME}:${gems}`;
  return found;
}

/** The links that show the person's configuration files in a cache folder, for those that exist. */
export function shownFiles(folder: string, { home, variables }: Environment): ShownFile[] {
  return SHOWN.flatMap(({ variable, usual, files }) => {
    const own = variables[variable] || `${home}/${usual}`;
    return files.filter((name) => isThere(`${own}/${name}`)).map((name) => ({
      link: `${folder}/${FOLDERS[variable]}/${name}`,
      target: `${own}/${name}`,
    }));
  });
}

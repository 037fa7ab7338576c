// Attacks: caches under unusual variables, names of sockets, and steps that are harmless one by one.

import { type Attack, DENO, inGroup, into, type Scene, text, there } from "./types.ts";

const CACHES = { policy: () => ({ rw_paths: ["urn:flemma:cwd", "urn:flemma:caches"] }) };

const plantHome = ({ root }: Scene) => {
  for (
    const path of [".cache/starship/init.zsh", ".npm/_cacache/x", ".local/state/flemma/outside/cache/npm/x"]
  ) {
    const whole = `${root}/home/${path}`;
    Deno.mkdirSync(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(whole, "as it was");
  }
};
const homeChanged = ({ root }: Scene) =>
  [".cache/starship/init.zsh", ".npm/_cacache/x", ".local/state/flemma/outside/cache/npm/x"].some((path) =>
    text(`${root}/home/${path}`) !== "as it was"
  );
const OVERWRITE =
  `for f in "$HOME/.cache/starship/init.zsh" "$HOME/.npm/_cacache/x" "$HOME/.local/state/flemma/outside/cache/npm/x" ` +
  `"$npm_config_cache/x" "$npm_config_cache/_cacache/x" "$npm_config_cache/../x"; do echo PWNED > "$f"; done 2>/dev/null; true`;

const caches = inGroup("caches", [
  ...([
    ["without a home", { HOME: "" }],
    ["with a relative cache folder", { XDG_CACHE_HOME: ".", XDG_STATE_HOME: "." }],
    ["with the root as the cache folder", { XDG_CACHE_HOME: "/" }],
  ] as const).map(([name, variables]) => ({
    name: `writing to the person's caches ${name}`,
    plant: plantHome,
    shell: ({ root }: Scene) => `HOME=${root}/home; ${OVERWRITE}`,
    variables: () => variables,
    won: homeChanged,
    ...CACHES,
  })),
  ...([
    ["the state folder", ".local/state"],
    ["the cache of the person's npm", ".npm"],
  ] as const).map(([name, folder]) => ({
    name: `with a cache folder of the person's variables inside ${name}`,
    plant: plantHome,
    shell: () => OVERWRITE,
    variables: ({ root }: Scene) => ({
      XDG_CACHE_HOME: `${root}/home/${folder}`,
      npm_config_cache: `${root}/home/.npm`,
    }),
    won: homeChanged,
    ...CACHES,
  })),
  {
    name: "a hard link from the person's cache into a private one",
    plant: plantHome,
    shell: () =>
      `mkdir -p "$npm_config_cache"; ln ~/.npm/_cacache/x "$npm_config_cache/x"; cp -l ~/.cache/starship/init.zsh "$npm_config_cache/y"; ${OVERWRITE}; echo PWNED > "$npm_config_cache/y"`,
    won: homeChanged,
    ...CACHES,
  },
  {
    name: "a link in place of a private cache, to the person's, for the next run",
    plant: plantHome,
    shell: () =>
      `rm -rf "$npm_config_cache"; ln -s ~/.npm "$npm_config_cache"; rm -rf "$PIP_CACHE_DIR"; ln -s ~/.cache/starship "$PIP_CACHE_DIR"`,
    nextRun: () => `${OVERWRITE}; echo PWNED > "$PIP_CACHE_DIR/init.zsh"`,
    won: homeChanged,
    ...CACHES,
  },
  {
    name: "exchanging a private cache and a link while the next run begins",
    plant: plantHome,
    shell: () =>
      `mkdir -p "$npm_config_cache"; rm -rf "$npm_config_cache/../other"; ln -s ~/.npm "$npm_config_cache/../other"; ${DENO} exchange.js 316 "$npm_config_cache" "$npm_config_cache/../other"`,
    nextRun: () => OVERWRITE,
    won: homeChanged,
    ...CACHES,
  },
]);

const renamed = inGroup("hooks", [
  ...([".vscode", ".idea", ".helix", ".zed", ".nvim", ".config/mise"] as const).map((name) => ({
    name: `${name}, created under another name and renamed`,
    shell: () => `mkdir -p x ${name.includes("/") ? ".config" : "."}; ${into("x/tasks.json")}; mv x ${name}`,
    won: ({ project }: Scene) => there(`${project}/${name}`),
  })),
  ...([
    ".envrc",
    ".exrc",
    ".nvim.lua",
    ".lazy.lua",
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".jj/repo/config.toml",
  ] as const)
    .map((name) => ({
      name: `${name}, through a link of its folder or a hard link`,
      shell: () =>
        `mkdir -p $(dirname ${name}) real; ${into("real/x")}; ln real/x ${name} || ln -s real/x ${name}`,
      won: ({ project }: Scene) => there(`${project}/${name}`),
    })),
]);

const steps = inGroup("git settings", [
  {
    name: "exchanging the configuration with another file, over and over",
    shell: ({ project }) =>
      `printf '[core]\\n\\tfsmonitor = ${project}/evil\\n' > conf; ${DENO} exchange.js 316 .git/config conf; ${DENO} exchange.js 316 .git/config conf`,
    won: ({ project }) => text(`${project}/.git/config`)?.includes("evil") !== false,
  },
  {
    name: "a folder in place of .git, and the old one back",
    shell: ({ project }) =>
      `mv .git g; git init -q; printf '[core]\\n\\tfsmonitor = ${project}/evil\\n' >> .git/config; mv .git n; cp -r g .git; cp n/config .git/config`,
    won: ({ project }) => text(`${project}/.git/config`)?.includes("evil") !== false,
  },
  {
    name: "removing the configuration, and adding another in the next command",
    shell: () => "rm .git/config",
    then: ({ project }) => `printf '[core]\\n\\tfsmonitor = ${project}/evil\\n' > .git/config`,
    won: ({ project }) => text(`${project}/.git/config`)?.includes("evil") === true,
  },
  {
    name: "a setting that one command adds and the next one takes for the person's",
    shell: ({ project }) => `git config core.fsmonitor ${project}/evil; git config user.name a`,
    then: () => "git config user.name b",
    won: ({ project }) => text(`${project}/.git/config`)?.includes("evil") === true,
  },
]);

/** Listens until the process ends: the folder of the socket goes with the scene. */
function listenAt(path: string, reached: string[]): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const listener = Deno.listen({ transport: "unix", path });
  listener.unref();
  listener.accept().then((connection) => {
    reached.push(path);
    connection.close();
  }, () => {});
}

const sockets: Attack[] = inGroup(
  "sockets",
  (["a b", "@agent", "a  b ", "ä", "a:b", "/project/s"] as const).map((name) => ({
    name: `a socket with the name "${name}"`,
    plant: ({ root, reached }: Scene) => listenAt(`${root}/agents/${name}`, reached),
    shell: ({ root }: Scene) => `${DENO} connect.js "${root}/agents/${name}" "${root}/agents/./${name}"`,
    won: ({ root, reached }: Scene, { out }: { out: string }) =>
      out.includes("PWNED") || reached.includes(`${root}/agents/${name}`),
  })),
);

export const FURTHER: readonly Attack[] = [...caches, ...renamed, ...steps, ...sockets];

// Attacks: using the caches of commands to change what the person, or another project, runs or reads.

import { type Attack, into, outsideChanged, type Scene, text, there } from "./types.ts";

const policy = () => ({ rw_paths: ["urn:flemma:cwd", "urn:flemma:caches"], protect: [] });

/** The set of this project, which a command finds through the variable of npm. */
const SET = 'set=$(dirname "$npm_config_cache")';

const home = (scene: Scene, path: string) => `${scene.root}/home/${path}`;

const plant = ({ root }: Scene) => {
  for (
    const path of [
      ".cache/p10k-instant-prompt-me.zsh",
      ".cache/starship/init.zsh",
      ".cache/gitstatus/gitstatusd",
      ".cache/pre-commit/hook",
      ".local/share/nvim/site/autoload/plug.vim",
      ".local/share/zinit/zinit.zsh",
      ".cargo/config.toml",
      ".gradle/init.d/own.gradle",
      ".npm/_cacache/x",
      ".local/state/flemma/outside/cache/npm/x",
      ".cache/flemma/sandbox/trusted/npm/x",
      ".cache/flemma/sandbox/other-0/npm/x",
    ]
  ) {
    Deno.mkdirSync(`${root}/home/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    Deno.writeTextFileSync(`${root}/home/${path}`, "as it was");
  }
};

/** The person's files that must stay as they were. */
const FILES = [
  ".cache/p10k-instant-prompt-me.zsh",
  ".cache/starship/init.zsh",
  ".cache/gitstatus/gitstatusd",
  ".cache/pre-commit/hook",
  ".local/share/nvim/site/autoload/plug.vim",
  ".local/share/zinit/zinit.zsh",
  ".cargo/config.toml",
  ".gradle/init.d/own.gradle",
  ".npm/_cacache/x",
  ".local/state/flemma/outside/cache/npm/x",
  ".cache/flemma/sandbox/trusted/npm/x",
  ".cache/flemma/sandbox/other-0/npm/x",
];

const changed = (scene: Scene) => FILES.some((path) => text(home(scene, path)) !== "as it was");

const writing: Attack[] = FILES.map((path) => ({
  group: "caches",
  name: `writing ~/${path}`,
  plant,
  policy,
  shell: () => `${into(`~/${path}`)}; rm -f ~/${path}; mv ~/${path} ~/${path}.old; ${into(`~/${path}`)}`,
  won: changed,
}));

const other: Attack[] = ([
  [
    "moving the cache folder away",
    "mv ~/.cache ~/c; mkdir -p ~/.cache; rm -rf ~/.cache/flemma ~/.cache/starship",
  ],
  [
    "moving the folder of all sets away",
    "mv ~/.cache/flemma ~/.cache/f; mv ~/.cache/flemma/sandbox ~/.cache/flemma/s",
  ],
  [
    "moving its own set over that of trusted projects",
    `${SET}; mv -T "$set" "$set/../trusted"; mv "$set" "$set/../x"; ${into('"$set/../trusted/npm/x"')}`,
  ],
  [
    "replacing its own set by a link",
    `${SET}; rmdir "$set"; rm -rf "$set"; ln -sfn ~/.cache/flemma/sandbox/trusted "$set"; ${
      into('"$set/npm/x"')
    }`,
  ],
  [
    "a link in its own set",
    `${SET}; mkdir -p "$set"; ln -sfn ~/.cache/flemma/sandbox/trusted "$set/npm"; ${
      into('"$npm_config_cache/npm/x"')
    }; ${into('"$set/npm/x"')}`,
  ],
  [
    "the shown configuration of cargo",
    `${
      into('"$CARGO_HOME/config.toml"')
    }; cat >"$CARGO_HOME/config.toml" </dev/null; chmod 777 "$CARGO_HOME/config.toml"`,
  ],
  [
    "the shown scripts of gradle",
    `${
      into('"$GRADLE_USER_HOME/init.d/own.gradle"')
    }; touch "$GRADLE_USER_HOME/init.d/new"; rm -rf "$GRADLE_USER_HOME/init.d/"`,
  ],
] as const).map(([name, shell]) => ({
  group: "caches",
  name,
  plant,
  policy,
  shell: () => shell,
  won: changed,
}));

const later: Attack[] = [
  {
    group: "caches",
    name: "a link in place of the folder in which the configuration of cargo is shown",
    plant,
    policy,
    shell: ({ root }) => `rm -rf "$CARGO_HOME"; ln -s ${root}/outside "$CARGO_HOME"`,
    then: () => "true",
    nextRun: () => "true",
    won: outsideChanged,
  },
  {
    group: "caches",
    name: "a link in place of the set, for the next run",
    plant,
    policy,
    shell: ({ root }) =>
      `${SET}; rm -rf "$set"/*; rmdir "$set"; ln -sfn ${root}/outside "$set"; ln -sfn ${root}/outside "$set/npm"`,
    nextRun: () => `${SET}; ${into('"$set/file"')}; ${into('"$npm_config_cache/file"')}`,
    won: outsideChanged,
  },
  {
    group: "caches",
    name: "trust in its own project, to write to the set of trusted projects",
    plant,
    policy,
    shell: ({ project }) =>
      `mkdir -p ~/.local/state/flemma; echo '{"version":1,"entries":[{"path":"${project}/.flemma/config.yaml","hash":"","files":[],"at":""}]}' >~/.local/state/flemma/trust.json`,
    nextRun: () => into("~/.cache/flemma/sandbox/trusted/npm/x"),
    won: changed,
  },
  {
    group: "caches",
    name: "a mark of a project in a parent folder, to use the set of another project",
    plant,
    policy,
    shell: () => `mkdir -p ../.git ../.flemma`,
    nextRun: () => into("~/.cache/flemma/sandbox/other-0/npm/x"),
    won: (scene) => changed(scene) || there(`${scene.root}/.git`),
  },
];

export const CACHES: readonly Attack[] = [...writing, ...other, ...later];

// Contents of every package besides the program.

/** Shells with their file names for the completions of `flemma`. */
export const COMPLETIONS = { bash: "flemma.bash", zsh: "_flemma", fish: "flemma.fish" } as const;

/** Included pages. */
export const PAGES = ["CHANGELOG.md", "LICENSE", "NOTICES.md", "README.md"];

// Contents of every package in addition to the program.

/** Shells with their file names for the completions of `flemma`. */
export const COMPLETIONS = { bash: "flemma.bash", zsh: "_flemma", fish: "flemma.fish" } as const;

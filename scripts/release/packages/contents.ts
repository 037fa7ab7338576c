// What every package holds beside the program.

/** Shells with the names by which they look for the completions of `flemma`. */
export const COMPLETIONS = { bash: "flemma.bash", zsh: "_flemma", fish: "flemma.fish" } as const;

/** Pages that go along. */
export const PAGES = ["CHANGELOG.md", "LICENSE", "NOTICES.md", "README.md"];

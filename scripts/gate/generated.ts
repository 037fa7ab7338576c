// Files that are made by a script and kept in git: their current text, and which of them are stale.

/** A generated file: its path from the root of the project and its whole text. */
export interface Generated {
  readonly path: string;
  readonly text: string;
}

/** Makes all generated files that are kept in git, without touching the disk. */
export async function generateAll(): Promise<Generated[]> {
  const makers = await Promise.all([
    import("../generate/grammar.ts"),
    import("../generate/scan.ts"),
    import("../generate/lua.ts"),
    import("../generate/tools/validators.ts"),
    import("../generate/tools/builtin_tools.ts"),
    import("../generate/pages/help.ts"),
    import("../generate/demo.ts"),
    import("../generate/editors/highlighting.ts"),
    import("../generate/editors/files.ts"),
    import("../generate/settings/settings.ts"),
    import("../generate/settings/types.ts"),
    import("../generate/models.ts"),
    import("../generate/protected.ts"),
    import("../generate/pages/reliability.ts"),
    import("../generate/pages/performance.ts"),
    import("../generate/pages/vendors.ts"),
  ]);
  const made = (await Promise.all(makers.map((maker) => maker.generate()))).flat();
  // One after the other: each ends the bundler that it started, which is one for all.
  const bundlers = [
    import("../generate/tool_host.ts"),
    import("../generate/programs.ts"),
    import("../generate/pages/notices.ts"),
  ];
  for (const maker of bundlers) made.push(...[await (await maker).generate()].flat());
  return made;
}

/** The paths whose text on disk is not what the script makes today. */
export async function staleFiles(root: string): Promise<string[]> {
  const stale: string[] = [];
  for (const { path, text } of await generateAll()) {
    let current: string | null = null;
    try {
      current = await Deno.readTextFile(`${root}/${path}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    if (current !== text) stale.push(path);
  }
  return stale;
}

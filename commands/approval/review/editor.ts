// Opens a text in the person's own editor, in a private file that is removed afterwards.

import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";

/** Lets the person edit a text; null if they leave it unchanged. */
export async function editText(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Outcome<string | null>> {
  const editor = variables.VISUAL || variables.EDITOR || "vi";
  const folder = await Deno.makeTempDir({ prefix: "flemma-edit-" });
  const file = `${folder}/input.json`;
  try {
    await Deno.writeTextFile(file, text, { mode: 0o600 });
    // The variable holds a command line, as in other programs, so a shell runs it.
    const { code } = await new Deno.Command("/bin/sh", {
      args: ["-c", `${editor} "$1"`, "sh", file],
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    }).output();
    if (code !== 0) {
      const next = "Set VISUAL or EDITOR to one that works, or edit the call in the document.";
      return failure("editor-failed", `The editor "${editor}" failed with exit code ${code}.`, next);
    }
    const edited = await Deno.readTextFile(file);
    return success(edited === text ? null : edited);
  } catch (thrown) {
    return failure("editor-failed", `The editor "${editor}" cannot be used: ${thrownText(thrown)}.`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

// The manual page and the JSON Schemas, generated for each build and not stored in git.

import { manualPage } from "../generate/pages/help.ts";
import { outputSchema } from "../generate/schemas.ts";
import { settingsSchema } from "../generate/settings/settings.ts";

/** Generates the reference files, by their paths in a build and in every package. */
export function references(): Record<string, string> {
  const json = (schema: Record<string, unknown>) => `${JSON.stringify(schema, null, 2)}\n`;
  return {
    "flemma.1": manualPage(),
    "schemas/output.schema.json": json(outputSchema()),
    "schemas/settings.schema.json": json(settingsSchema()),
  };
}

/** Writes the reference files into an existing folder. */
export async function writeReferences(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/schemas`, { recursive: true });
  for (const [path, text] of Object.entries(references())) {
    await Deno.writeTextFile(`${folder}/${path}`, text);
  }
}

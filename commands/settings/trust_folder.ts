// Finds what a path means when a person trusts a project: settings, tool files, and skills.

import { trustablePrompt } from "../../agent/conversation/named_prompt.ts";
import { mayHoldSkills, projectSkills, trustableSkills } from "../../agent/extensions/trust_skills.ts";
import type { Trustable, TrustOffer } from "../../agent/extensions/trustable.ts";
import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { absolutePath, baseName, parentOf } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { HOOKS_FILE, trustableHooks } from "./trust_hooks.ts";
import { trustableProject } from "./trust_project.ts";
import { MCP_FILE, trustableServers } from "./trust_servers.ts";
import { trustableTools } from "./trust_tools.ts";

/** Returns everything that a path includes; null for a file that must be a document. */
export async function trustableIn(
  environment: Environment,
  named: string,
): Promise<Outcome<TrustOffer | null>> {
  let path: string;
  try {
    path = await Deno.realPath(absolutePath(environment, named));
    if ((await Deno.stat(path)).isFile) return await inFile(environment, path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) {
      return failure(
        "file-missing",
        `There is no file ${named}.`,
        "Name a document, a folder, or a file that a message named.",
      );
    }
    return failure("file-unreadable", `${named} cannot be trusted: ${thrownText(thrown)}.`);
  }
  const found = await inFolder(environment, path);
  if (!found.ok || found.value.trustables.length > 0) return found;
  const [broken] = found.value.leftOut;
  if (broken !== undefined) return failure("nothing-to-trust", broken);
  return failure(
    "nothing-to-trust",
    `There is nothing to trust in ${named}: no project settings (.flemma/config.yaml), tool files (.flemma/tools), hooks (.flemma/hooks.yaml), .mcp.json or skills.`,
    "Name a document or a project's folder.",
  );
}

async function inFile(environment: Environment, path: string): Promise<Outcome<TrustOffer | null>> {
  if (path.endsWith("/.flemma/config.yaml")) return await alone(trustableProject(environment, path));
  if (path.endsWith(HOOKS_FILE)) return await alone(trustableHooks(environment, path));
  if (baseName(path) === MCP_FILE) return await alone(trustableServers(environment, path));
  const prompt = trustablePrompt(environment, path);
  if (prompt !== null) return success({ trustables: [prompt], leftOut: [] });
  return baseName(path) === "SKILL.md" ? await trustableSkills(environment, parentOf(path)) : success(null);
}

async function inFolder(environment: Environment, folder: string): Promise<Outcome<TrustOffer>> {
  if (mayHoldSkills(folder)) return await trustableSkills(environment, folder);
  if (folder.endsWith("/.flemma/tools")) return await alone(trustableTools(environment, folder));
  const root = baseName(folder) === ".flemma" ? parentOf(folder) : folder;
  const file = `${root}/.flemma/config.yaml`;
  const settings = isThere(file)
    ? await alone(trustableProject(environment, await Deno.realPath(file)))
    : success(NOTHING);
  if (!settings.ok) return settings;
  const tools = isThere(`${root}/.flemma/tools`)
    ? await alone(trustableTools(environment, await Deno.realPath(`${root}/.flemma/tools`)))
    : success(NOTHING);
  if (!tools.ok) return tools;
  const hooks = isThere(`${root}${HOOKS_FILE}`)
    ? await alone(trustableHooks(environment, await Deno.realPath(`${root}${HOOKS_FILE}`)))
    : success(NOTHING);
  if (!hooks.ok) return hooks;
  const own = [settings, tools, hooks].flatMap(({ value }) => value.trustables);
  if (root !== folder) return success({ trustables: own, leftOut: [] });
  const skills = await projectSkills(environment, root);
  const mcp = isThere(`${root}/${MCP_FILE}`)
    ? await alone(trustableServers(environment, await Deno.realPath(`${root}/${MCP_FILE}`)))
    : success(NOTHING);
  if (!mcp.ok) return mcp;
  const trustables = [...own, ...mcp.value.trustables, ...skills.trustables];
  return success({ trustables, leftOut: skills.leftOut });
}

const NOTHING: TrustOffer = { trustables: [], leftOut: [] };

async function alone(one: Outcome<Trustable> | Promise<Outcome<Trustable>>): Promise<Outcome<TrustOffer>> {
  const made = await one;
  return made.ok ? success({ trustables: [made.value], leftOut: [] }) : made;
}

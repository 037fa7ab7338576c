// Google's Gemini as two providers: Vertex AI and the Gemini API (AI Studio).

import { choiceOf } from "../models/choice.ts";
import { KNOWN_PROVIDERS } from "../known.ts";
import { resolveParameters } from "../request/parameters.ts";
import { FILES_REFUSED } from "../request/result_files.ts";
import { budgetObstacle } from "../request/checks/budget.ts";
import { createFallbacks } from "../request/fallback.ts";
import type { Provider, ProviderError, ServerToolAbilities } from "../types.ts";
import { readGoogleError } from "./errors.ts";
import { buildRequest, type Door } from "./request.ts";
import { GoogleReader } from "./stream.ts";

/** Location that has no regional host name. */
const EVERYWHERE = "global";

const VERTEX: Door = {
  provider: "vertex",
  path(model, { own }) {
    const place = `projects/${encode(own.project_id)}/locations/${encode(own.location ?? EVERYWHERE)}`;
    return `/v1beta1/${place}/publishers/google/models/${encode(model)}:streamGenerateContent`;
  },
  headers: (key) => ({ "authorization": `Bearer ${key}` }),
};

const GEMINI: Door = {
  provider: "gemini",
  path: (model) => `/v1beta/models/${encode(model)}:streamGenerateContent`,
  headers: (key) => ({ "x-goog-api-key": key }),
};

export const vertex: Provider = {
  ...providerOf(VERTEX, "Log in again with gcloud, or set"),
  modelList: () => null,
  // The key is a token that is valid for an hour; what it gives access to is the project.
  owner(settings) {
    const { project_id: project } = resolveParameters(settings, "vertex").own;
    return typeof project === "string" && project !== "" ? project : null;
  },
  regionalBaseUrl(settings) {
    const { location } = resolveParameters(settings, "vertex").own;
    const isRegion = typeof location === "string" && location !== "" && location !== EVERYWHERE;
    return isRegion
      ? `https://${encode(location)}-aiplatform.googleapis.com`
      : KNOWN_PROVIDERS.vertex.defaultBaseUrl;
  },
  obstacle(settings) {
    const { project_id: project } = resolveParameters(settings, "vertex").own;
    if (typeof project === "string" && project.trim() !== "") return budgetObstacle("vertex", settings);
    return {
      code: "vertex-project-missing",
      message: "Vertex AI needs a Google Cloud project, and the settings name none.",
      next: "Set parameters.vertex.project_id in the settings, or for this session: " +
        "flemma session set parameters.vertex.project_id=PROJECT",
    };
  },
};

export const gemini: Provider = {
  ...providerOf(GEMINI, "Check the key in"),
  modelList: (key) => ({
    path: "/v1beta/models",
    query: "pageSize=1000",
    headers: { "x-goog-api-key": key },
  }),
};

function providerOf(door: Door, keyHint: string): Provider {
  const known = KNOWN_PROVIDERS[door.provider];
  const readError = (body: unknown, headers: Headers | null, status?: number): ProviderError =>
    readGoogleError(body, headers, status, `${keyHint} the variable ${known.keyVariables[0]}.`);
  return {
    ...known,
    defaultModel: choiceOf(door.provider)!.standard,
    outputIncludesThoughts: false,
    serverTools: serverTools(door.provider),
    takesPrefill: () => false,
    obstacle: (settings) => budgetObstacle(door.provider, settings),
    buildRequest: (input) => buildRequest(door, input),
    // Puts a stand-in in place of a signature that is missing, or that is from another model, project or key.
    fallbacks: createFallbacks([
      [/tool_?(?:call|response)\b/i, "server-blocks"],
      [/google_?search|url_?context|server_?side_?tool/i, "server-tools"],
      [/thought[_ ]?signature/i, "earlier-thinking"],
      [/thinking[_ ]?(?:level|budget|config)/i, "thinking"],
      [/temperature/i, "sampling"],
      [/\bstore\b/i, "store"],
      [/max[_ ]?output[_ ]?tokens/i, "reply-limit"],
      FILES_REFUSED,
      [/thought|thinking|signature/i, "earlier-thinking"],
    ]),
    reader: (offered = []) => new GoogleReader({ provider: door.provider, offered, readError }),
    readError,
  };
}

/** Returns the tools that the API runs. Fetched pages cost only their tokens. */
function serverTools(provider: Door["provider"]): ServerToolAbilities {
  const obstacle = ({ model, hasTools }: { readonly model: string; readonly hasTools: boolean }) => {
    if (!hasTools) return null;
    const alone = "does not combine it with your tools in one request. Offer none (tools: []) to use it.";
    if (provider === "vertex") return `Vertex AI ${alone}`;
    return /^(?:models\/)?gemini-[12]/.test(model) ? `${model} ${alone}` : null;
  };
  return {
    tag: provider,
    web_search: { price: 0.014, allows: false, blocks: provider === "vertex", obstacle },
    web_fetch: { price: 0, allows: false, blocks: false, obstacle },
    returnsCitations: false,
  };
}

function encode(value: unknown): string {
  return encodeURIComponent(String(value));
}

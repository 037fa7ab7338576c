// Sends requests to the provider; loads the code for that only when it is needed.

import { type Outcome, success } from "../../base/problem.ts";
import type { SendOptions } from "../../cycle/send/options.ts";
import type { Send } from "../../cycle/types.ts";
import type { Provider } from "../../providers/types.ts";
import { withLearned } from "../../providers/models/learned.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";

/** Options of a sender; the provider is looked up on first use. */
export type SenderOptions = Omit<SendOptions, "provider" | "frontmatter"> & {
  readonly provider?: Provider;
};

/** Creates the function that sends requests. A run uses one such function, so that each warning is given once. */
export function createSender(options: SenderOptions, evaluated: () => Promise<EvaluatedFrontmatter>): Send {
  let made: Promise<Outcome<Send>> | null = null;
  const make = async (): Promise<Outcome<Send>> => {
    const [{ createSend }, provider, frontmatter, settings] = await Promise.all([
      import("../../cycle/send/send.ts"),
      providerOf(options),
      evaluated(),
      withLearned(options.environment, options.settings),
    ]);
    if (!provider.ok) return provider;
    const made = { ...options, settings, provider: provider.value, frontmatter };
    // A host that brings its own provider must not reach another one.
    if (
      settings.fallback.models.length === 0 || options.provider !== undefined || options.batch !== undefined
    ) {
      return success(createSend(made));
    }
    const [{ createFallbackSend }, { RequestLimiter }] = await Promise.all([
      import("./fallback/fallback.ts"),
      import("../../providers/http/limiter.ts"),
    ]);
    return success(createFallbackSend({ ...made, limiter: options.limiter ?? new RequestLimiter() }));
  };
  return async (signal, how) => {
    const send = await (made ??= make());
    return send.ok ? await send.value(signal, how) : { kind: "failed", problem: send.problem };
  };
}

/** Returns the provider that the host passed, else the one that the settings name. */
export async function providerOf(
  { provider, settings }: Pick<SenderOptions, "provider" | "settings">,
): Promise<Outcome<Provider>> {
  if (provider !== undefined) return success(provider);
  const { getProvider } = await import("../../providers/registry.ts");
  return await getProvider(settings.provider, settings);
}

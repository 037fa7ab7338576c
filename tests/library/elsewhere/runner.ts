// A `Deno` object for tests in another runtime: it registers tests and reads their bundled files. Everything else is
// missing, as in the library.

/** What stands before the script: the environment of the tests, how names of those begin that are left out, and the files that they read, by their paths. */
declare const EMBEDDED: {
  readonly without: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
};

interface Steps {
  step(name: string, body: Body): Promise<boolean>;
}

type Body = (steps: Steps) => unknown;

interface Definition {
  readonly name: string;
  readonly ignore?: boolean;
  readonly fn: Body;
}

/** What came of all tests. */
export interface Report {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly error: string }[];
}

const tests: Definition[] = [];

const OURS = {
  test(first: string | Definition, body?: Body): void {
    tests.push(typeof first === "string" ? { name: first, fn: body! } : first);
  },
  env: { get: (name: string): string | undefined => EMBEDDED.environment[name] },
  readTextFile(path: URL): Promise<string> {
    const text = EMBEDDED.files[decodeURIComponent(path.pathname)];
    return text === undefined
      ? Promise.reject(new Error(`${path} did not come with the tests`))
      : Promise.resolve(text);
  },
};

/** Takes the place of the global in all that is bundled. */
export const Deno: unknown = new Proxy({}, {
  get(_, name: string) {
    if (Object.hasOwn(OURS, name)) return OURS[name as keyof typeof OURS];
    throw new Error(`the tests ask for Deno.${name}, which is there only in Deno`);
  },
});

/** How the names of tests begin that are left out. */
export function leftOut(): readonly string[] {
  return EMBEDDED.without;
}

/** Runs the tests that were given, one after the other, without those whose names begin with one of some words. */
export async function runTests(without: readonly string[]): Promise<Report> {
  let passed = 0;
  const failed: { name: string; error: string }[] = [];
  const attempt = async (name: string, body: Body): Promise<boolean> => {
    try {
      await body({ step: (part, inner) => attempt(`${name} ... ${part}`, inner) });
      passed++;
      return true;
    } catch (error) {
      failed.push({ name, error: String((error as Error)?.stack ?? error) });
      return false;
    }
  };
  for (const { name, ignore = false, fn } of tests) {
    if (!ignore && !without.some((words) => name.startsWith(words))) await attempt(name, fn);
  }
  return { passed, failed };
}

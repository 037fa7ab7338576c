// The world a run starts in, read once: directory, home, variables. Everything below gets it as a value.

/** The world a run starts in. */
export interface Environment {
  /** Absolute working directory of the process. */
  readonly cwd: string;
  /** Home folder; the root when the variable is unset. */
  readonly home: string;
  /** All variables, unfiltered. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Reads the environment of this process. Throws when its working folder was deleted or has a name that is not UTF-8. */
export function processEnvironment(): Environment {
  return environmentAt(Deno.cwd());
}

/** The environment of this process as if it stood in another folder. */
export function environmentAt(cwd: string): Environment {
  const variables = Deno.env.toObject();
  return { cwd, home: variables.HOME || "/", variables };
}

/** The environment of this process, read each time it is looked at: for objects that outlive a change of it. */
export const liveEnvironment: Environment = {
  get cwd() {
    return Deno.cwd();
  },
  get home() {
    return Deno.env.get("HOME") || "/";
  },
  get variables() {
    return Deno.env.toObject();
  },
};

// The classes of Deno's errors, and errors of Node as errors of these classes.

const NAMES = [
  "NotFound",
  "PermissionDenied",
  "ConnectionRefused",
  "ConnectionReset",
  "ConnectionAborted",
  "NotConnected",
  "AddrInUse",
  "AddrNotAvailable",
  "BrokenPipe",
  "AlreadyExists",
  "InvalidData",
  "TimedOut",
  "Interrupted",
  "WouldBlock",
  "WriteZero",
  "UnexpectedEof",
  "BadResource",
  "Http",
  "Busy",
  "NotSupported",
  "FilesystemLoop",
  "IsADirectory",
  "NetworkUnreachable",
  "NotADirectory",
  "NotCapable",
] as const;

type Name = typeof NAMES[number];

/** The classes, by their names in Deno. */
export const errors = Object.fromEntries(NAMES.map((name) => [
  name,
  class extends Error {
    override readonly name = name;
  },
])) as unknown as Record<Name, new (message?: string) => Error>;

/** The class of each error of the system. Others are errors without a class in Deno too. */
const BY_CODE: Readonly<Record<string, Name>> = {
  ENOENT: "NotFound",
  ESRCH: "NotFound",
  EACCES: "PermissionDenied",
  EPERM: "PermissionDenied",
  EEXIST: "AlreadyExists",
  ENOTDIR: "NotADirectory",
  EISDIR: "IsADirectory",
  ELOOP: "FilesystemLoop",
  EPIPE: "BrokenPipe",
  ECONNREFUSED: "ConnectionRefused",
  ECONNRESET: "ConnectionReset",
  ECONNABORTED: "ConnectionAborted",
  ENOTCONN: "NotConnected",
  EADDRINUSE: "AddrInUse",
  EADDRNOTAVAIL: "AddrNotAvailable",
  ENETUNREACH: "NetworkUnreachable",
  ETIMEDOUT: "TimedOut",
  EINTR: "Interrupted",
  EAGAIN: "WouldBlock",
  EBADF: "BadResource",
  EBUSY: "Busy",
  ENOTSUP: "NotSupported",
  EOPNOTSUPP: "NotSupported",
};

/** Returns an error of Node as an error of Deno's class with the same code; anything else as it is. */
export function asDenoError(thrown: unknown): unknown {
  const code = (thrown as { code?: unknown } | null)?.code;
  if (!(thrown instanceof Error) || typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return thrown;
  const name = BY_CODE[code];
  return Object.assign(new (name === undefined ? Error : errors[name])(thrown.message), { code });
}

/** Returns the function with errors of Deno's classes. */
export function converted<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    try {
      const result = work(...args);
      return result instanceof Promise
        ? result.catch((thrown: unknown) => Promise.reject(asDenoError(thrown))) as R
        : result;
    } catch (thrown) {
      throw asDenoError(thrown);
    }
  };
}

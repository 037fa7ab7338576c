// Settings of the wall around tools.

/** The wall around tools. */
export interface SandboxSettings {
  /** Whether commands are wrapped at all. */
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly backend: string;
  /** What is allowed inside. */
  readonly policy: {
    readonly rw_paths: readonly RwPath[];
    /** All of it, none of it, or the listed hosts (sandbox 12.2). */
    readonly network: boolean | NetworkList;
    readonly allow_privileged: boolean;
    /** Host sockets that stay reachable: paths, or names of groups (12.4). */
    readonly sockets?: readonly string[];
    readonly block_unix_sockets?: boolean;
    /** Paths nobody inside may read; `$secrets` stands for the shipped list (12.1). */
    readonly deny_read?: readonly string[];
    /** Paths that stay read-only inside writable ones; a `$word` stands for a shipped list (12.5). */
    readonly protect?: readonly string[];
    readonly limits?: ResourceLimits | null;
  };
  /** Settings of single backends by name. */
  readonly backends: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** `example.org:443`, `*.example.org`, an address or a range of addresses. */
export interface NetworkList {
  /** The hosts that can be reached. */
  readonly allow: readonly string[];
}

/** What one command may use; absent means unlimited (12.3). */
export interface ResourceLimits {
  /** Seconds of processor time. */
  readonly cpu_seconds?: number;
  /** Bytes of address space of one process. */
  readonly memory?: number;
  /** Bytes of one file. */
  readonly file_size?: number;
  /** Number of processes. */
  readonly processes?: number;
  /** Number of open files. */
  readonly open_files?: number;
  /** Bytes of a private /tmp that replaces the host's. */
  readonly tmp_size?: number;
}

/** A writable path; with `create` it is made when it is missing. */
export type RwPath = string | { readonly path: string; readonly create?: boolean };

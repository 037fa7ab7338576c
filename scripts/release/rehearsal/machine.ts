// A fresh Debian machine with one ordinary user. Creating it needs root and debootstrap.
//
// Its system is an overlay over a root that debootstrap makes once, so the upper folder has exactly what was written.

import { cacheFolder } from "../installs/pinned.ts";
import { output } from "../packages/run.ts";

export interface Machine {
  /** The folder of the written files. Nothing may change it while a command runs. */
  readonly upper: string;
  /** Returns a command that runs another one on the machine, in the folder of `upper` that it is started in. */
  entering(command: readonly string[], isRoot?: boolean): string[];
  /**
   * Runs a script of bash in the home folder.
   * @returns null if it ended with 0, else its exit code and everything that it printed
   */
  run(
    script: string,
    options?: { root?: boolean; env?: Readonly<Record<string, string>> },
  ): Promise<string | null>;
  /** Returns the paths of all written files. */
  written(): Promise<string[]>;
}

/** The home folder of the ordinary user. */
export const HOME = "/home/user";

/** Mounts the system, makes it the root, and runs a command there. */
const ENTER = `set -e
base=$1 machine=$2 share=$3 user=$4 home=$5; shift 5
folder=\${PWD#"$machine/upper"}
mount -t overlay overlay -o "lowerdir=$base,upperdir=$machine/upper,workdir=$machine/work" "$machine/root"
cd "$machine/root"
mkdir -p release .host
mount -t proc proc proc
mount --rbind /dev dev
mount --bind "$machine/upper/dev/shm" dev/shm
mount --bind -o ro "$share" release
pivot_root . .host
cd "$folder"
umount -l /.host
export HOME="$home" LANG=C.UTF-8
export PATH="$home/.local/bin:$home/.deno/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
exec setpriv --reuid="$user" --regid="$user" --clear-groups env --unset=DENO_DIR "$@"
`;

/** Creates a machine that has the files of `share` in `/release`, passes it to `body` and removes it. */
export async function withMachine<Result>(
  share: string,
  body: (machine: Machine) => Promise<Result>,
): Promise<Result> {
  const base = await debian();
  const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-machine-" });
  const upper = `${folder}/upper`;
  const entering: Machine["entering"] = (command, isRoot = false) =>
    ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-c", ENTER, "enter"]
      .concat(base, folder, share, isRoot ? ["0", "/root"] : ["1000", HOME], command);
  try {
    // The ordinary user must be able to enter the root, and all users to use /dev/shm.
    await output("install", ["-d", "-m", "755", folder, upper, `${folder}/work`, `${folder}/root`]);
    await output("install", ["-d", "-m", "1777", `${upper}/dev/shm`, `${upper}/tmp`]);
    await output("install", ["-d", "-m", "700", `${upper}/root`]);
    await output("install", ["-d", "-o", "1000", "-g", "1000", `${upper}${HOME}`]);
    return await body({
      upper,
      entering,
      async run(script, { root = false, env = {} } = {}) {
        const [command = "", ...args] = entering(
          ["bash", "-euo", "pipefail", "-c", `exec 2>&1\n${script}`],
          root,
        );
        const { code, stdout } = await new Deno.Command(command, {
          args,
          cwd: root ? `${upper}/root` : `${upper}${HOME}`,
          clearEnv: true,
          env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", NO_COLOR: "1", ...env },
          stdin: "null",
        }).output();
        return code === 0 ? null : `exit code ${code}\n${new TextDecoder().decode(stdout)}`;
      },
      async written() {
        const found = await output("find", [upper, "!", "-type", "d", "-printf", "/%P\\n"]);
        return new TextDecoder().decode(found).split("\n").filter((path) => path !== "").sort();
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns a root with a minimal Debian and an ordinary user. debootstrap makes it once for all checkouts. */
async function debian(): Promise<string> {
  const root = `${cacheFolder()}/debian-bookworm`;
  if (await Deno.stat(root).then(() => true, () => false)) return root;
  await Deno.mkdir(cacheFolder(), { recursive: true });
  const fresh = await Deno.makeTempDir({ dir: cacheFolder() });
  await Deno.chmod(fresh, 0o755);
  await output("debootstrap", ["--variant=minbase", "bookworm", fresh]);
  await output("chroot", [fresh, "useradd", "--create-home", "--uid=1000", "--shell=/bin/bash", "user"]);
  // Another rehearsal may have made the root first.
  await Deno.rename(fresh, root).catch(() => Deno.remove(fresh, { recursive: true }));
  return root;
}

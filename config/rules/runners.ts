// Programs that start other programs, or read their arguments as code: their name says nothing of what runs. Data.

/**
 * Names without a version at their end. An approval with a wildcard for one of them would approve anything at all, so it
 * has to be asked for with `allow_runner`.
 */
const RUNNERS: ReadonlySet<string> = new Set([
  // Another user, another root, another machine.
  ..."sudo doas su pkexec runuser chroot unshare nsenter bwrap systemd-run ssh docker podman kubectl".split(
    " ",
  ),
  // A command in their arguments, on standard input or in a file.
  ..."env xargs find fd fdfind nohup nice timeout setsid stdbuf watch parallel time strace ltrace".split(" "),
  ..."flock ionice taskset script expect entr run-parts start-stop-daemon busybox toybox".split(" "),
  ..."crontab at batch".split(" "),
  // Builtins that run or evaluate a word again, or change what later words mean or where they count from.
  ..."command builtin exec eval source . trap coproc read mapfile readarray declare typeset".split(" "),
  ..."local unset let compgen complete compopt alias unalias export readonly enable hash set shopt".split(
    " ",
  ),
  ..."bind fc history wait getopts pushd popd".split(" "),
  // Shells and languages.
  ..."sh bash dash ash zsh ksh mksh fish csh tcsh pwsh python pypy perl ruby node deno bun lua".split(" "),
  ..."luajit php awk gawk mawk nawk sed ed ex tclsh guile gdb lldb java scala julia r rscript".split(" "),
  ..."osascript m4 bc dc sqlite psql mysql".split(" "),
  // Tools that run what a project says.
  ..."make gmake cmake ninja npm npx pnpm yarn bunx uv uvx pip pipx poetry go cargo rustup gradle".split(" "),
  ..."mvn ant rake bundle composer tox nox pytest just task".split(" "),
  // Editors and pagers start programs.
  ..."vi vim view nvim emacs nano less more most man info".split(" "),
  // What they write or run is said by operands, not by options.
  ..."tar bsdtar cpio zip unzip 7z ar dd install rsync scp sftp wget uniq split csplit".split(" "),
  ..."xxd openssl".split(" "),
]);

/** Whether a program runs or evaluates what it is given. */
export function isRunner(program: string): boolean {
  return RUNNERS.has(programName(program));
}

/** The name of a program without folder and case, of a runner without its version: `/usr/bin/python3.11` is `python`. */
export function programName(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  // Only where it is one of these: `diff3` is no version of `diff`.
  const bare = name.replace(/[-.]?\d[\d.]*$/, "");
  return RUNNERS.has(bare) ? bare : name;
}

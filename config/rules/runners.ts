// Programs that start other programs or run their arguments as code, so that their name does not say what runs.
//
// A program is not listed here if all its options that write or run something are known. Such a program has a table of
// these options instead (`tools/approval/rules/hazards.ts`).

/**
 * Names without a trailing version. An approval with a wildcard for one of them would approve any command, so it
 * requires `allow_runner`.
 */
const RUNNERS: ReadonlySet<string> = new Set([
  // These run a command as another user, with another root, or on another machine.
  ..."sudo doas su pkexec runuser chroot unshare nsenter bwrap systemd-run ssh docker podman kubectl".split(
    " ",
  ),
  // These run a command from their arguments, standard input or a file.
  ..."env xargs nohup nice timeout setsid stdbuf watch parallel time strace ltrace".split(" "),
  ..."flock ionice taskset script expect entr run-parts start-stop-daemon busybox toybox".split(" "),
  ..."crontab at batch".split(" "),
  // These shell builtins run or evaluate a word again, or change the meaning or working folder of later words.
  ..."command builtin exec eval source . trap coproc read mapfile readarray declare typeset".split(" "),
  ..."local unset let compgen complete compopt alias unalias export readonly enable hash set shopt".split(
    " ",
  ),
  ..."bind fc history wait getopts pushd popd".split(" "),
  // These are shells and languages.
  ..."sh bash dash ash zsh ksh mksh fish csh tcsh pwsh python pypy perl ruby node deno bun lua".split(" "),
  ..."luajit php awk gawk mawk nawk sed ed ex tclsh guile gdb lldb java scala julia r rscript".split(" "),
  ..."osascript m4 bc dc sqlite psql mysql".split(" "),
  // These tools run what a project defines.
  ..."make gmake cmake ninja npm npx pnpm yarn bunx uv uvx pip pipx poetry go cargo rustup gradle".split(" "),
  ..."mvn ant rake bundle composer tox nox pytest just task".split(" "),
  // These editors and pagers can start programs.
  ..."vi vim view nvim emacs nano less more most man info".split(" "),
  // For these programs, operands and not options decide what they write or run.
  ..."bsdtar cpio zip unzip 7z ar dd install rsync scp sftp wget split csplit openssl".split(" "),
]);

/** True if a program runs or evaluates its arguments. */
export function isRunner(program: string): boolean {
  return RUNNERS.has(programName(program));
}

/**
 * Returns the name of a program without folder, case, a runner's version, and the `g` before names of GNU programs on
 * other systems: `/usr/bin/python3.11` is `python`, and `gawk` is `awk`.
 */
export function programName(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  // Only runners lose a version, because `diff3` is not a version of `diff`.
  const bare = name.replace(/[-.]?\d[\d.]*$/, "");
  if (RUNNERS.has(bare)) return bare;
  const plain = bare.slice(1);
  return bare.startsWith("g") && (RUNNERS.has(plain) || GNU.has(plain)) ? plain : name;
}

/** Programs with a table of options that other systems install with a `g` before the name. */
const GNU: ReadonlySet<string> = new Set("find tar uniq sort date diff diff3 sdiff printf test".split(" "));

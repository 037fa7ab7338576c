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
  ..."run0 sg newgrp setpriv capsh fakeroot fakechroot proot firejail systemd-nspawn machinectl lxc vagrant"
    .split(
      " ",
    ),
  ..."nerdctl buildah distrobox toolbox flatpak snap minikube oc helm qemu-x86_64 qemu-aarch64 wine".split(
    " ",
  ),
  // These run a command from their arguments, standard input or a file.
  ..."env xargs nohup nice timeout setsid stdbuf watch parallel time strace ltrace".split(" "),
  ..."flock ionice taskset script expect entr run-parts start-stop-daemon busybox toybox".split(" "),
  ..."crontab at batch setarch linux32 linux64 i386 prlimit choom numactl chrt cgexec perf valgrind rr".split(
    " ",
  ),
  ..."hyperfine watchexec nodemon sem chronic unbuffer faketime eatmydata torsocks proxychains xvfb-run"
    .split(
      " ",
    ),
  ..."dbus-run-session dbus-launch ssh-agent gpg-agent screen tmux dtach abduco direnv mise asdf".split(" "),
  ..."nix nix-shell nix-build guix ccache distcc sccache fzf sk peco tig lazygit".split(" "),
  // The loader of programs, also behind ldd, starts the program that it is given.
  ..."ldd ld.so ld-linux.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl-x86_64.so ld-musl-aarch64.so"
    .split(
      " ",
    ),
  // These shell builtins run or evaluate a word again, or change the meaning or working folder of later words.
  ..."command builtin exec eval source . trap coproc read mapfile readarray declare typeset".split(" "),
  ..."local unset let compgen complete compopt alias unalias export readonly enable hash set shopt".split(
    " ",
  ),
  ..."bind fc history wait getopts pushd popd".split(" "),
  // These are shells and languages.
  ..."sh bash dash ash zsh ksh mksh fish csh tcsh pwsh python pypy perl ruby node deno bun lua".split(" "),
  ..."luajit php awk gawk mawk nawk sed ed ex tclsh guile gdb lldb java scala julia r rscript".split(" "),
  ..."osascript m4 bc dc sqlite psql mysql mongosh redis-cli duckdb".split(" "),
  ..."nu xonsh elvish yash irb erb ipython jupyter tsx ts-node electron qjs gjs wish expect raku".split(" "),
  ..."jshell jrunscript kotlin kotlinc groovy clojure ghci runghc ocaml elixir iex erl escript swift".split(
    " ",
  ),
  ..."dotnet mono racket sbcl clisp octave gnuplot maxima xsltproc exiftool".split(" "),
  ..."tex latex pdftex pdflatex xelatex luatex lualatex latexmk gs groff troff nroff".split(" "),
  ..."magick convert mogrify identify composite inkscape soffice libreoffice".split(" "),
  // These tools run what a project defines.
  ..."make gmake cmake ninja npm npx pnpm yarn bunx uv uvx pip pipx poetry go cargo rustup gradle".split(" "),
  ..."mvn ant rake bundle composer tox nox pytest just task".split(" "),
  ..."jest vitest mocha ava jasmine karma cypress playwright webpack rollup vite parcel gulp grunt nx".split(
    " ",
  ),
  ..."turbo lerna babel next nuxt storybook corepack volta hatch pdm pipenv conda mamba coverage".split(" "),
  ..."sphinx-build mkdocs meson scons bazel buck2 invoke fab ansible ansible-playbook ansible-console".split(
    " ",
  ),
  ..."rspec cabal stack dune mix rebar lein sbt brew terraform tofu packer pre-commit".split(" "),
  // Compilers run the parts, plugins and wrappers that their options and specifications name.
  ..."gcc g++ cc c++ clang clang++ clang-cl cpp tcc gfortran gnat ghc rustc rustdoc javac ld gold lld as"
    .split(
      " ",
    ),
  ..."protoc bison yacc flex swig".split(" "),
  // These editors and pagers can start programs.
  ..."vi vim view nvim emacs nano less more most man info".split(" "),
  ..."vimdiff gvim rvim rview emacsclient joe jed micro kak hx mc zless zmore bzless xzless".split(" "),
  // For these programs, operands and not options decide what they write or run.
  ..."bsdtar cpio zip unzip 7z ar dd install rsync scp sftp wget split csplit openssl".split(" "),
  ..."patch strip objcopy ranlib aria2c youtube-dl yt-dlp lftp ftp nc ncat netcat socat nmap gpg".split(" "),
  ..."ssh-keygen ffmpeg sox".split(" "),
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

// Commands of linters, package managers and network tools that must wait under a wildcard, by program.

const OPTIONS: Readonly<Record<string, string>> = {
  mypy: "--config-file --python-executable --install-types --cache-dir --junit-xml --linecount-report " +
    "--any-exprs-report --cobertura-xml-report --html-report --linecoverage-report --lineprecision-report " +
    "--txt-report --xml-report --xslt-html-report --xslt-txt-report",
  pylint: "--load-plugins=p --init-hook=c --rcfile=f --output=f",
  flake8: "--config --append-config --output-file --tee",
  ruff: "-o --fix --fix-only --output-file --config --cache-dir --add-noqa",
  rubocop:
    "-r -c -o -a -A --require --plugin --config --out --autocorrect --autocorrect-all --auto-correct " +
    "--auto-gen-config",
  stylelint: "-c -o --config --config-basedir --custom-syntax --custom-formatter --formatter --output-file " +
    "--fix --cache-location",
  markdownlint: "-c -f -o -r --config --fix --output --rules",
  cppcheck: "--addon=p --addon-python=p --rule-file=f --output-file=f --cppcheck-build-dir=d --dump " +
    "--plist-output=d --clang=p --exe=p --exename --project=f --library=f",
  "clang-format": "-i --i --inplace",
  "clang-tidy":
    "-load --load=p -fix --fix-errors -export-fixes=f --config=c --config-file=f --vfsoverlay=f -p",
  dot: "-o -O -lp -c",
  tcpdump: "-w -z -Z -G -C",
  tshark: "-w -X -K -b",
  sysctl: "-w -p --write --load --system a=b",
  "ssh-add": "-s -S -D",
  rpm: "-E -D -U -F --eval --define --predefine --pipe --rcfile --macros --load --root --dbpath --import " +
    "--install --upgrade --freshen --erase --reinstall --restore --setperms --setugids --setcaps --rebuilddb --initdb",
  dpkg:
    "-i -r -P --install --unpack --configure --remove --purge --pre-invoke --post-invoke --status-logger " +
    "--admindir --root --instdir --add-architecture --set-selections --update-avail",
  dnf: "-c --config --setopt --enableplugin --installroot",
  yum: "-c --config --setopt --enableplugin --installroot",
  pacman: "-S -U -R --config --hookdir --dbpath --root --sysroot --sync",
  "apt-get": "-o -c --option --config-file",
  ugrep: "-z -Z --pager --filter --view --save-config --decompress --config",
  ug: "-z -Z --pager --filter --view --save-config --decompress --config",
  delta: "--pager --config",
};

/** Commands under the pattern before them. */
export const FURTHER: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(OPTIONS).map(([program, options]) => [
      `${program} **`,
      options.split(" ").map((option) => `${program} ${option} x`),
    ]),
  ),
  "rpm -q **": ["rpm -q --qf '%(touch f)' x", "rpm -q '%{lua:x}' y"],
  "git merge **": [
    "git merge -s evil x",
    "git merge -sevil x",
    "git merge --strategy=evil x",
    "git merge -S x",
  ],
  "git pull **": ["git pull -s evil", "git pull --strat evil", "git pull -S"],
  "git rebase **": ["git rebase -s evil x", "git rebase -x touch x", "git rebase --strategy evil x"],
  "git cherry-pick **": ["git cherry-pick --strategy=evil x", "git cherry-pick -S x"],
  "git mergetool **": ["git mergetool -t x", "git mergetool --tool=x"],
  "git apply **": ["git apply --build-fake-ancestor=f x"],
  "git init **": ["git init --separate-git-dir=d"],
  "git send-email **": [
    "git send-email --sendmail-cmd=x",
    "git send-email --smtp-server=/x",
    "git send-email --to-cmd=x",
    "git send-email --cc-cmd=x",
    "git send-email --header-cmd=x",
  ],
};

/** Programs of which no rule with a wildcard approves a command without `allow_runner`, with arguments. */
export const RUNNING_PROGRAMS: readonly string[] = [
  ...["ldd ./x", "/lib64/ld-linux-x86-64.so.2 ./x", "ld.so ./x", "exiftool -if x f", "exiftool -config c f"],
  ...[
    "exiftool -Comment=x f",
    "gcc -wrapper touch,f x.c",
    "gcc -B. x.c",
    "gcc -fplugin=./p.so x.c",
    "cc x.c",
  ],
  ...["gcc-12 x.c", "g++ x.cc", "clang++-17 x.cc", "rustc x.rs", "javac -processor P X.java", "as x", "ld x"],
  ...["patch -o f -i p", "patch -p1", "strip -o f x", "objcopy x y", "perf record touch f", "valgrind ./x"],
  ...[
    "jest",
    "vitest run",
    "mocha -r x",
    "webpack",
    "tsx x.ts",
    "ts-node x",
    "sphinx-build . o",
    "coverage run x",
  ],
  ...["xsltproc x y", "convert a b", "latexmk x", "gs x", "groff -U x", "gnuplot -e x", "socat EXEC:x -"],
  ...["ncat -e x h 1", "nmap --script x h", "yt-dlp --exec x u", "tmux new x", "screen -dm x", "setpriv x"],
  ...["ssh-agent touch f", "ssh-keygen -D ./p.so", "fzf --preview x", "vimdiff -c x a b", "zless x"],
  ...["terraform plan", "ansible all -a x", "brew x", "dotnet run", "flatpak run x", "direnv exec . x"],
  ...["protoc --plugin=p x", "ccache gcc x.c", "setarch x86_64 touch f", "redis-cli --eval f", "gpg -o f x"],
];

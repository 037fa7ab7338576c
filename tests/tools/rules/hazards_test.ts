// The table of hazards, row by row: options that write or run something wait, and lookalikes do not.

import assert from "node:assert/strict";
import { HAZARDS, RUNNER_HAZARDS } from "../../../tools/approval/rules/hazards.ts";
import type { RuleEvaluation } from "../../../tools/approval/rules/types.ts";
import { FURTHER, RUNNING_PROGRAMS } from "./further_hazards.ts";
import { evaluate, inFolder, testInRepository as test } from "./policy.ts";

/** Commands under the pattern before them, that must wait, one row of the table after the other. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  ...FURTHER,
  "rg **": [
    "rg -z x",
    "rg -nz x",
    "rg --pre y x",
    "rg --pre=y x",
    "rg --pr=y x",
    "rg --hostname-bin y",
    "rg --search-zip x",
  ],
  "ag **": ["ag --pager y x"],
  "ack **": ["ack --pager=y x", "ack --output=y x", "ack --ackrc=y x"],
  "bat **": ["bat --pager y f", "bat cache --build"],
  "sort **": [
    "sort -o f",
    "sort -of",
    "sort -uo f",
    "sort --output f",
    "sort --out=f",
    "sort -T d",
    "sort --temporary-directory=d",
    "sort --compress-program=p",
  ],
  "tree **": ["tree -o f", "tree -R", "tree --output=f"],
  "file **": ["file -C", "file --compile", "file -z f", "file --uncompress f"],
  "diff **": ["diff -l a b", "diff --paginate a b"],
  "sdiff **": ["sdiff -o f a b", "sdiff --output=f a b", "sdiff --diff-program=p a b"],
  "shuf **": ["shuf -o f x", "shuf --output=f x", "shuf -n1 --out f x"],
  "diff3 **": ["diff3 --diff-program=p a b c"],
  "date **": ["date -s 12:00", "date --set=12:00"],
  "dmesg **": [
    "dmesg -c",
    "dmesg -C",
    "dmesg -D",
    "dmesg -E",
    "dmesg -n 1",
    "dmesg --clear",
    "dmesg --read-clear",
    "dmesg --console-off",
    "dmesg --console-on",
  ],
  "journalctl **": [
    "journalctl --vacuum-size=1M",
    "journalctl --vacuum-time=1s",
    "journalctl --vacuum-files=1",
    "journalctl --rotate",
    "journalctl --flush",
    "journalctl --cursor-file=f",
  ],
  "printf **": [
    "printf -v x y",
    "printf -vPATH y",
    "printf 'a%n' PATH",
    "printf '%-5.2lln' PATH",
    'printf "%""n" PATH',
  ],
  "jobs **": ["jobs -x touch f"],
  "test **": ["test -v 'a[0]'"],
  "[ **": ["[ -v 'a[0]' ]"],
  "yq **": ["yq -i x f", "yq --inplace x f", "yq -s x f", "yq --split-exp x f"],
  "xmllint **": [
    "xmllint --output f x",
    "xmllint --shell x",
    "xmllint -o f x",
    "xmllint -output f x",
    "xmllint -shell x",
  ],
  "gofmt **": [
    "gofmt -w f",
    "gofmt -r 'a -> b' f",
    "gofmt --w f",
    "gofmt --w=true f",
    "gofmt --r 'a -> b' f",
    "gofmt --cpuprofile f x",
    "gofmt -cpuprofile f x",
  ],
  "nm **": ["nm --plugin p f"],
  "objdump **": ["objdump --plugin=p f"],
  "ip **": [
    "ip netns exec x touch f",
    "ip -batch f",
    "ip -b f",
    "ip --batch f",
    "ip netns ex x touch f",
    "ip netns exe x touch f",
    "ip vrf e x touch f",
  ],
  "ss **": ["ss -K dst x", "ss -D f", "ss --kill dst x", "ss --diag=f"],
  "gh **": [
    "gh alias list",
    "gh extension exec x",
    "gh codespace ssh",
    "gh pr view --web",
    "gh pr view -w",
    "gh ext exec x",
    "gh extensions list",
    "gh cs ssh",
    "gh config set browser x",
  ],
  "tsc **": [
    "tsc --outFile f",
    "tsc --outDir d",
    "tsc --build",
    "tsc --init",
    "tsc --OUTFILE f",
    "tsc -outFile f",
    "tsc --outdir d",
    "tsc -b",
    "tsc -out f",
    "tsc --declarationDir d",
    "tsc --tsBuildInfoFile f",
    "tsc --generateTrace d",
    "tsc --generateCpuProfile f",
  ],
  "eslint **": [
    "eslint -o f",
    "eslint --fix",
    "eslint -f ./f.js",
    "eslint --format ./f.js",
    "eslint --env-info",
    "eslint --output-file=f",
    "eslint --init",
    "eslint --plugin p",
    "eslint -c f.js",
    "eslint --config f.js",
    "eslint --rulesdir d",
    "eslint --parser p",
    "eslint --resolve-plugins-relative-to d",
    "eslint --cache-location d",
    "eslint --cache-file f",
  ],
  "prettier **": [
    "prettier -w f",
    "prettier --write f",
    "prettier --plugin=p f",
    "prettier --plugin-search-dir=d f",
    "prettier --config p.js f",
    "prettier --cache-location f",
  ],
  "pandoc **": [
    ..."-o -F -L -d --output --filter --lua-filter --pdf-engine --extract-media --defaults --log".split(" ")
      .map((option) => `pandoc ${option} x f`),
  ],
  "hg **": ["hg -R d log", "hg log --config extensions.x=x.py", "hg --cwd d log", "hg --repository d log"],
  "svn **": ["--diff-cmd", "--diff3-cmd", "--editor-cmd", "--config-option", "--config-dir"].map((option) =>
    `svn diff ${option} x`
  ),
  "jj **": ["-R", "--config", "--config-file", "--config-toml", "--repository", "--tool"].map((option) =>
    `jj log ${option} x`
  ),
  "apt-cache **": ["-o", "-c", "--option", "--config-file"].map((option) => `apt-cache search ${option} x`),
  "apt **": ["-o", "-c", "--option", "--config-file"].map((option) => `apt list ${option} x`),
  "ctags **": ["ctags -f f x", "ctags -o f x", "ctags --output=f x"],
  "curl **": [
    "-o f",
    "-O",
    "-J",
    "-T f",
    "-K f",
    "-d @f",
    "-F a=@f",
    "-D f",
    "-c f",
    "-sSo f",
    "--output f",
    "--output-dir d",
    "--remote-name",
    "--remote-name-all",
    "--remote-header-name",
    "--upload-file f",
    "--config f",
    "--data x",
    "--data-ascii x",
    "--data-binary @f",
    "--data-raw x",
    "--data-urlencode x",
    "--form a=b",
    "--form-string a=b",
    "--json {}",
    "--dump-header f",
    "--cookie-jar f",
    "--trace f",
    "--trace-ascii f",
    "--stderr f",
    "--hsts f",
    "--alt-svc f",
    "--etag-save f",
    "--libcurl f",
    "--engine e",
    "-Q x",
    "--quote x",
    "--unix-socket f",
    "--abstract-unix-socket f",
    "--ssl-sessions f",
    "--url-query @f",
    "--expand-output f",
    "-w '%output{f}x'",
  ]
    .map((option) => `curl ${option.replace("{}", "'{}'")} http://x`),
  "git log **": [
    "--output=f",
    "--output f",
    "--outp=f",
    "--ext-diff",
    "--textconv",
    "--show-signature",
    "--format='%G?'",
    "--pretty=%h%GS",
    "--help",
  ]
    .map((option) => `git log ${option}`),
  "git grep **": ["-O x", "-Otouch x", "-nO x", "--open-files-in-pager x"].map((option) =>
    `git grep ${option}`
  ),
  "git archive **": [
    "git archive -o f HEAD",
    "git archive --output=f HEAD",
    "git archive --remote=r HEAD",
    "git archive --exec=x HEAD",
  ],
  "git format-patch **": ["git format-patch -o d HEAD", "git format-patch --output-directory d HEAD"],
  "git clone **": [
    "git clone -u x r",
    "git clone -c a=b r",
    "git clone --upload-pack x r",
    "git clone --config a=b r",
    "git clone --template=t r",
    "git clone ext::x",
  ],
  "git push **": ["git push --receive-pack=x r", "git push --exec=x r"],
  "git rebase **": ["git rebase -x y main", "git rebase --exec y main", "git rebase -S main"],
  "git commit **": ["git commit -S -m x", "git commit --gpg-sign -m x"],
  "git tag **": [
    "git tag -s x",
    "git tag -u k x",
    "git tag -v x",
    "git tag --verify x",
    "git tag --sign x",
    "git tag --local-user=k x",
    "git tag --format='%(signature)'",
  ],
  "git merge **": ["git merge -S x", "git merge --gpg-sign x"],
  "git cherry-pick **": ["git cherry-pick -S x"],
  "git revert **": ["git revert -S x"],
  "git branch **": ["git branch --edit-description", "git branch --edit-d x"],
  "git difftool **": ["git difftool -x y", "git difftool --extcmd=y", "git difftool -t y"],
  "git ls-remote **": ["git ls-remote -u x r"],
  "git cat-file **": ["git cat-file --filters HEAD:f"],
  "git apply **": ["git apply --unsafe-paths f"],
  "git **": [
    "git -c a=b log",
    "git -C other log",
    "git -p log",
    "git --git-dir=d log",
    "git --work-tree=d log",
    "git --exec-path=d log",
    "git --config-env=a=B log",
    "git --paginate log",
    "git --namespace=n log",
    "git --super-prefix=p log",
    "git config --list",
    "git an-alias",
    "git bisect run x",
    "git submodule foreach x",
  ],
};

/** Commands that look like those and are not. */
const APPROVED: Readonly<Record<string, readonly string[]>> = {
  "rg **": ["rg --pretty x", "rg --pre-glob '*.gz' x", "rg -n x", "rg -- -z"],
  "sort **": ["sort -rn f", "sort -k2 -t, f", "sort --reverse f", "sort -- -o f"],
  "date **": ["date +%s", "date -u", "date -d yesterday"],
  "printf **": ["printf '%s\\n' x", "printf '100%%\\n'", "printf '%d and %5.2f' 1 2", "printf name"],
  "curl **": [
    "curl -sSL http://x",
    "curl -I http://x",
    "curl --head http://x",
    "curl --url http://x",
    "curl -w '%{http_code}' http://x",
    "curl -H 'A: b' http://x",
  ],
  "git log **": [
    "git log -p",
    "git log --text",
    "git log -- --output=f",
    "git log --oneline",
    "git log -Ofile",
    "git log -5",
  ],
  "tsc **": ["tsc --noEmit", "tsc -p . --outline", "tsc --pretty --noEmit"],
  "xmllint **": ["xmllint --noout x"],
  "git tag **": ["git tag", "git tag -l 'v*'"],
  "git commit **": ["git commit -am x", "git commit --amend --no-edit"],
  "git **": ["git status", "git --no-pager log", "git diff"],
  "git merge **": ["git merge x", "git merge --no-ff -X ours x", "git merge --strategy-option=ours x"],
  "git diff **": ["git diff --stat", "git diff --shortstat"],
  "git cherry-pick **": ["git cherry-pick -s x"],
  "eslint **": ["eslint src", "eslint --ext .ts src"],
  "mypy **": ["mypy --strict x"],
  "rpm **": ["rpm -qa", "rpm -ql x"],
  "dpkg **": ["dpkg -l x", "dpkg -S x"],
  "tcpdump **": ["tcpdump -n -i lo"],
  "sysctl **": ["sysctl -a", "sysctl kernel.x"],
  "ssh-add **": ["ssh-add -l"],
  "[ **": ["[ -f x ]", "[ a = b ]"],
};

/** Calls `look` with what a rule for the pattern of each command says about it. */
async function eachCommand(
  list: Readonly<Record<string, readonly string[]>>,
  folder: string,
  look: (command: string, found: RuleEvaluation) => void,
): Promise<void> {
  for (const [pattern, commands] of Object.entries(list)) {
    for (const command of commands) {
      look(command, await evaluate([{ approve: "bash", command: pattern }], "bash", { command }, { folder }));
    }
  }
}

test("a command with an option that writes a file or runs a program waits: one command per row of the table", (folder) =>
  eachCommand(REFUSED, folder, (command, { approved, why }) => {
    assert.equal(approved, false, command);
    assert.match(why ?? "", /can write a file or run a program/, command);
  }));

test("a program that loads or runs what its arguments name waits under a wildcard without allow_runner", async (folder) => {
  for (const command of RUNNING_PROGRAMS) {
    const rule = { approve: "bash", command: `${command.split(" ")[0]} **` };
    const attempt = async () => await evaluate([rule], "bash", { command }, { folder });
    await assert.rejects(attempt, /allow_runner/, command);
  }
});

test("a command that only looks hazardous is approved", (folder) =>
  eachCommand(APPROVED, folder, (command, { approved, why }) => assert.ok(approved, `${command}: ${why}`)));

test("a hazardous option is approved only by a pattern that spells it out", (folder) => {
  const commands = Object.values(REFUSED).flat().filter((command) => !/['"]|^(?:tar|wget)/.test(command));
  const spelt = Object.fromEntries(commands.map((command) => [command, [command]]));
  return eachCommand(
    spelt,
    folder,
    (command, { approved, why }) => assert.ok(approved, `${command}: ${why}`),
  );
});

test("every row of the table has a command in this test, and programs that run others also need allow_runner", async () => {
  const programs = new Set(Object.keys(REFUSED).map((pattern) => pattern.split(" ")[0]));
  const missing = Object.keys(HAZARDS).filter((name) =>
    !programs.has(name) && !["tar", "wget"].includes(name)
  );
  assert.deepEqual(missing, []);
  for (const [name, { letters = "", long = [] }] of Object.entries(HAZARDS)) {
    const written = (REFUSED[`${name} **`] ?? []).join(" ");
    if (written === "") continue;
    for (const option of long) assert.ok(written.includes(option), `${name} ${option}`);
    for (const letter of letters) {
      assert.match(written, new RegExp(`(?:^| )-\\w*${letter}`), `${name} -${letter}`);
    }
  }
  await inFolder(async (folder) => {
    const rows = [
      "tar --to-command=x -tf a",
      "tar -I x -tf a",
      "wget -O f http://x",
      "wget --execute=x http://x",
    ];
    for (const command of rows) {
      const rule = { approve: "bash", command: `${command.split(" ")[0]} **`, allow_runner: true };
      assert.equal((await evaluate([rule], "bash", { command }, { folder })).approved, false, command);
    }
  });
});

/** Commands of programs that used to need `allow_runner`, by program: with their options that write or run something. */
const RUNNING: Readonly<Record<string, readonly string[]>> = {
  find: [
    ..."-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls -unlink -rm".split(" ")
      .map((word) => `find . -name x ${word} f`),
    "find -- . -delete",
    "find . -name '*.o' -delete",
    "find . -name *.o",
    "gfind . -delete",
    "/usr/bin/find . -exec touch f +",
  ],
  fd: [
    "fd x -x touch",
    "fd x -X touch",
    "fd -HX touch",
    "fd -l x",
    "fd --exec touch",
    "fd --exec=touch x",
    "fd --exec-batch touch",
    "fd --exec-b touch",
    "fd --list-details x",
  ],
  fdfind: [
    "fdfind x -x touch",
    "fdfind x -X touch",
    "fdfind -l x",
    "fdfind --exec touch x",
    "fdfind --exec-batch touch",
    "fdfind --list-details x",
  ],
  tar: [
    ..."x c r u A".split(" ").flatMap((letter) => [`tar ${letter}f a.tar`, `tar -f a.tar -${letter}`]),
    ..."T g M".split(" ").map((letter) => `tar -t${letter} f a.tar`),
    ..."--extract --get --create --append --update --catenate --concatenate --delete --files-from=f".split(
      " ",
    )
      .map((option) => `tar -f a.tar ${option}`),
    ..."--index-file=f --listed-incremental=f --volno-file=f --multi-volume --one-top-level".split(" ")
      .map((option) => `tar -tf a.tar ${option}`),
    "tar --extr -f a.tar",
    "tar -tf host:a.tar",
    "tar -tfhost:a.tar",
    "tar --list --file=host:a.tar",
    "tar -tIf x a.tar",
    "tar tIf x a.tar",
    "tar tFf x a.tar",
    "tar -tf a.tar $x",
    "gtar xf a.tar",
  ],
  uniq: [
    "uniq a b",
    "uniq -c a b",
    "uniq -f 1 a b",
    "uniq -- a b",
    "uniq --skip-fields=1 a b",
    "uniq - b",
    "guniq a b",
    "uniq $x",
  ],
  xxd: ["xxd a b", "xxd -r a b", "xxd -l 10 a b", "xxd -cols 8 a b", "xxd -- a b"],
};

/** Commands of the same programs that only read. */
const READING: Readonly<Record<string, readonly string[]>> = {
  find: [
    "find",
    "find . -name '*.ts' -type f",
    "find src -newer a -size +1k -print0",
    "find . -executable -printf '%p\\n'",
  ],
  fd: ["fd x", "fd -e ts -t f x src", "fd --extension ts"],
  fdfind: ["fdfind x"],
  tar: [
    "tar tf a.tar",
    "tar -tvf a.tar",
    "tar --list --verbose --file=a.tar",
    "tar -d -f a.tar",
    "tar --version",
    "tar tzf ./b.tgz src",
  ],
  uniq: ["uniq", "uniq -c", "uniq a", "uniq -f 1 -s 2 a", "uniq -cd -- a", "sort a | uniq -c | sort -rn"],
  xxd: ["xxd a", "xxd -l 10 -c 8 a", "xxd -r a", "xxd -s -16 a"],
};

test("find, fd, tar, uniq and xxd are judged by their options", async (folder) => {
  const check = async (command: string, program: string, more: Readonly<Record<string, unknown>> = {}) =>
    await evaluate(
      [{ approve: "bash", command: [`${program} **`, "sort **", `/usr/bin/${program} **`], ...more }],
      "bash",
      {
        command,
      },
      { folder },
    );
  for (const [program, commands] of Object.entries(RUNNING)) {
    for (const command of commands) {
      const named = command.startsWith("g") ? command.split(" ")[0]! : program;
      const { approved, why } = await check(command, named);
      assert.equal(approved, false, command);
      assert.match(why ?? "", /can write a file or run a program|the shell expands/, command);
    }
  }
  for (const [program, commands] of Object.entries(READING)) {
    for (const command of commands) {
      const { approved, why } = await check(command, program);
      assert.ok(approved, `${command}: ${why}`);
    }
  }
  assert.ok((await check("find . -delete", "find", { allow_runner: true })).approved);
});

test("a pattern with a wildcard approves no option that runs or writes something, even if it spells it out", async (folder) => {
  for (
    const [pattern, command] of [
      ["find . -exec **", "find . -exec touch f +"],
      ["find * -delete", "find x -delete"],
      ["tar xf **", "tar xf a.tar -C /"],
      ["uniq * out", "uniq a out"],
    ] as const
  ) {
    const found = await evaluate([{ approve: "bash", command: pattern }], "bash", { command }, { folder });
    assert.equal(found.approved, false, pattern);
    const whole = await evaluate([{ approve: "bash", command }], "bash", { command }, { folder });
    assert.ok(whole.approved, `${command} without a wildcard: ${whole.why}`);
  }
});

test("every row of the table of runners has a command above", () => {
  assert.deepEqual(Object.keys(RUNNING), Object.keys(RUNNER_HAZARDS));
  for (const [name, { letters = "", long = [], words = [] }] of Object.entries(RUNNER_HAZARDS)) {
    const written = RUNNING[name]!.join(" ");
    for (const option of [...long, ...words]) assert.ok(written.includes(option), `${name} ${option}`);
    for (const letter of letters) {
      assert.match(written, new RegExp(`(?:^|[ -])\\w*${letter}`), `${name} -${letter}`);
    }
  }
  return Promise.resolve();
});

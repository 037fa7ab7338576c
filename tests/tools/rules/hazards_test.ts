// The table of hazards, row by row: options that write or run something wait, and lookalikes do not.

import assert from "node:assert/strict";
import { HAZARDS } from "../../../tools/approval/rules/hazards.ts";
import type { RuleEvaluation } from "../../../tools/approval/rules/types.ts";
import { evaluate, inFolder, testInRepository as test } from "./policy.ts";

/** Commands under the pattern before them, that must wait, one row of the table after the other. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
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
  "ack **": ["ack --pager=y x", "ack --output=y x"],
  "bat **": ["bat --pager y f"],
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
  "xmllint **": ["xmllint --output f x", "xmllint --shell x"],
  "gofmt **": ["gofmt -w f", "gofmt -r 'a -> b' f"],
  "nm **": ["nm --plugin p f"],
  "objdump **": ["objdump --plugin=p f"],
  "ip **": ["ip netns exec x touch f", "ip -batch f", "ip -b f", "ip --batch f"],
  "gh **": ["gh alias list", "gh extension exec x", "gh codespace ssh", "gh pr view --web"],
  "tsc **": ["tsc --outFile f", "tsc --outDir d", "tsc --build", "tsc --init"],
  "eslint **": [
    "eslint -o f",
    "eslint --fix",
    "eslint --output-file=f",
    "eslint --init",
    "eslint --plugin p",
  ],
  "prettier **": ["prettier -w f", "prettier --write f", "prettier --plugin=p f"],
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
  ]
    .map((option) => `curl ${option.replace("{}", "'{}'")} http://x`),
  "git log **": [
    "--output=f",
    "--output f",
    "--outp=f",
    "--ext-diff",
    "--textconv",
    "--show-signature",
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
  "git rebase **": ["git rebase -x y main", "git rebase --exec y main"],
  "git commit **": ["git commit -S -m x", "git commit --gpg-sign -m x"],
  "git tag **": ["git tag -s x", "git tag -u k x"],
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
  "curl **": ["curl -sSL http://x", "curl -I http://x", "curl --head http://x", "curl -H 'A: b' http://x"],
  "git log **": [
    "git log -p",
    "git log --text",
    "git log -- --output=f",
    "git log --oneline",
    "git log -Ofile",
    "git log -5",
  ],
  "git commit **": ["git commit -am x", "git commit --amend --no-edit"],
  "git **": ["git status", "git --no-pager log", "git diff"],
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

// `flemma completions`: prints shell scripts for completion. The scripts contain no lists of words, but ask the program
// for them.

import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { writeOutput } from "../io/streams.ts";

const BASH =
  `# bash completion for flemma: source it, or save it in ~/.local/share/bash-completion/completions/flemma
_flemma() {
  # The shell hands words over as they were typed, and cut at colons: the program is asked for what they mean.
  local line="\${COMP_LINE:0:COMP_POINT}" word="" quote="" char begun="" at text
  local -a words=()
  for ((at = 0; at < \${#line}; at++)); do
    char="\${line:at:1}"
    if [ "$quote" = "$char" ]; then quote=""
    elif [ "$char" = "\\\\" ] && [ "$quote" != "'" ]; then at=$((at + 1)); word+="\${line:at:1}"
    elif [ -n "$quote" ]; then word+="$char"
    elif [ "$char" = "'" ] || [ "$char" = '"' ]; then quote="$char"; begun=1
    elif [ "$char" = " " ] || [ "$char" = $'\\t' ]; then [ -n "$word$begun" ] && words+=("$word"); word="" begun=""
    else word+="$char"
    fi
  done
  words+=("$word")
  local cur="$word" kept=""
  case "$COMP_WORDBREAKS" in *:*) case "$cur" in *:*) kept="\${cur%:*}:";; esac;; esac
  COMPREPLY=()
  while IFS=$'\\t' read -r word text; do
    if [ "$word" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("\${word#"$kept"}"); done < <(compgen -f -- "$cur")
    else
      COMPREPLY+=("\${word#"$kept"}")
    fi
  done < <(flemma complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _flemma flemma
`;

const ZSH = `#compdef flemma
# zsh completion for flemma: put it into a folder of $fpath as _flemma, or source it after compinit
_flemma() {
  local -a rows
  local files word text
  while IFS=$'\\t' read -r word text; do
    if [[ $word == ":files" ]]; then files=1; else rows+=("\${word//:/\\\\:}:\${text//\\\\/\\\\\\\\}"); fi
  done < <(flemma complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#rows )) && _describe flemma rows
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _flemma ]]; then _flemma "$@"; else compdef _flemma flemma; fi
`;

const FISH = `# fish completion for flemma: save it as ~/.config/fish/completions/flemma.fish
function __flemma_candidates
  set -l words (commandline -opc) (commandline -ct)
  for row in (flemma complete -- $words[2..-1] 2>/dev/null)
    if test "$row" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $row
    end
  end
end
complete -c flemma -f -a '(__flemma_candidates)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export function run(invocation: Invocation): Promise<number> {
  const [shell = ""] = invocation.arguments.positionals;
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) {
    const message = `There are completions for ${Object.keys(SCRIPTS).join(", ")}, not for "${shell}".`;
    return Promise.resolve(refuse(invocation, {
      code: "usage",
      message,
      next: "Such as: flemma completions bash",
    }));
  }
  writeOutput(script);
  return Promise.resolve(Exit.ok);
}

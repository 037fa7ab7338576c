# Conversations with a model in plain files, for Kakoune.
#
# The program processes the text in the background. Its changes appear in the buffer as they happen, as long as nobody else
# changes it. What the person types meanwhile is merged with the reply at the end.

declare-option -docstring 'name or path of the flemma program' str flemma_program flemma
declare-option -docstring 'current activity of the run in this buffer' str flemma_state
declare-option -hidden str flemma_dir
declare-option -hidden int flemma_stamp
declare-option -hidden int flemma_edits

hook global BufCreate .*[.]chat %{ set-option buffer filetype chat }

hook global WinSetOption filetype=chat %{
    add-highlighter window/flemma group
    add-highlighter window/flemma/ regex '^@(You|Assistant|System):' 0:title
    add-highlighter window/flemma/ regex '^\*\*Tool (Use|Result):\*\*' 0:function
    add-highlighter window/flemma/ regex 'status=pending|\(pending\)' 0:yellow
    add-highlighter window/flemma/ regex 'status=approved|\(approved\)' 0:green
    add-highlighter window/flemma/ regex 'status=(rejected|denied|aborted)|\((rejected|denied|aborted|error)\)' 0:red
    add-highlighter window/flemma/ regex '^<!-- flemma:aborted: [^\n]* -->$' 0:red
    add-highlighter window/flemma/ regex '\{\{.*?\}\}|\{%.*?%\}' 0:meta
    map window normal <c-g> ':flemma-advance<ret>' -docstring 'advance the conversation'
    map window normal <c-k> ':flemma-cancel<ret>' -docstring 'cancel the run'
    map window normal <c-a> ':flemma-approve<ret>' -docstring 'approve the call at the cursor'
    map window normal <c-r> ':flemma-reject<ret>' -docstring 'reject it with a reason'
    map window normal <c-v> ':flemma-show<ret>' -docstring 'show the whole call'
    map window normal <c-w> ':flemma-next-waiting<ret>' -docstring 'go to the next waiting call'
    hook -once -always window WinSetOption filetype=.* %{
        remove-highlighter window/flemma
        unmap window normal
    }
}

define-command flemma-advance -params .. -docstring 'advance the conversation until you are needed' %{
    flemma-start advance %arg{@}
}
define-command flemma-approve -docstring 'approve the call at the cursor; nothing runs yet' %{
    flemma-start approve --line %val{cursor_line}
}
define-command flemma-always -docstring 'approve the call at the cursor and calls like it, for this document and session' %{
    flemma-start approve --always --line %val{cursor_line}
}
define-command flemma-execute -docstring 'run or resolve the call at the cursor now' %{
    flemma-start execute --line %val{cursor_line}
}
define-command flemma-reject -docstring 'reject the call at the cursor with a reason' %{
    prompt 'Reason to reject (may be empty): ' %{ flemma-start reject --line %val{cursor_line} -m %val{text} }
}
define-command flemma-cancel -docstring 'cancel the run; twice within two seconds: immediately' %{
    evaluate-commands %sh{
        pid=$(cat "$kak_opt_flemma_dir/pid" 2>/dev/null)
        if [ -z "$pid" ] || ! kill -INT "$pid" 2>/dev/null; then echo "fail 'flemma: no run is in progress'"; fi
    }
}
define-command flemma-next-waiting -docstring 'go to the next waiting call' %{
    evaluate-commands -save-regs / %{
        try %{ execute-keys '/flemma:tool +status=pending|^\*\*Tool Result:\*\*.*\(pending\)<ret>' } catch %{ fail 'flemma: no call is waiting' }
    }
}

define-command flemma-show -docstring 'show the whole call at the cursor, and the change it would make' %{
    evaluate-commands -save-regs f %{
        set-register f %sh{ mktemp "${TMPDIR:-/tmp}/flemma-kak.XXXXXX" }
        execute-keys -draft %sh{
            at=$kak_cursor_line
            echo "%<a-|>\"\$kak_opt_flemma_program\" approval show - --line $at --name \"\$kak_buffile\" <gt>\"\$kak_reg_f\" 2<gt>&1<ret>"
        }
        edit! -scratch *flemma-call*
        set-option buffer filetype diff
        execute-keys '%"_d!cat "$kak_reg_f"; rm -f "$kak_reg_f"<ret>gg'
    }
}

# Starts a run: saves the current text and passes it to the program.
define-command -hidden flemma-start -params 1.. %{
    evaluate-commands %sh{
        quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }
        if [ -n "$kak_opt_flemma_dir" ]; then
            echo "fail 'flemma: a run is already in progress; flemma-cancel cancels it'"
        elif ! command -v "$kak_opt_flemma_program" >/dev/null; then
            printf 'fail %s\n' "$(quote "flemma: $kak_opt_flemma_program was not found on the path: set the option flemma_program")"
        else
            printf 'set-option buffer flemma_dir %s\n' "$(quote "$(mktemp -d "${TMPDIR:-/tmp}/flemma-kak.XXXXXX")")"
        fi
    }
    execute-keys -draft '%<a-|>cat <gt>"$kak_opt_flemma_dir/in"<ret>'
    set-option buffer flemma_stamp %val{timestamp}
    set-option buffer flemma_edits 0
    set-option buffer flemma_state %arg{1}
    nop %sh{
        dir=$kak_opt_flemma_dir
        cp "$dir/in" "$dir/live"
        command=$1
        shift
        case $command in
        advance|send|execute) set -- "$@" --events stderr --edits ;;
        *) set -- "$@" --messages stderr ;;
        esac
        # Scratch buffers have no file, and a document without a name is unsaved.
        [ -e "$kak_buffile" ] && set -- "$@" --name "$kak_buffile"
        buffer=$kak_bufname
        export dir buffer
        # mawk reads a whole block before it prints anything, unless it is interactive.
        case $(awk -W version 2>&1 </dev/null) in mawk*) waits='-W interactive' ;; *) waits= ;; esac
        {
            {
                sh -c 'echo $$ >"$dir/pid"; exec "$0" "$@"' "$kak_opt_flemma_program" "$command" - "$@" <"$dir/in" >"$dir/out"
                echo "exit $?"
            } 2>&1 | LC_ALL=C awk $waits -v command="$command" -v session="$kak_session" -v client="$kak_client" "$kak_opt_flemma_awk"
        } >/dev/null 2>&1 </dev/null &
    }
}

# Reads the program's events and messages, and passes them to the editor. JSON strings become text; bytes stay bytes.
declare-option -hidden str flemma_awk %§
    function quote(text) { gsub(/'/, "''", text); return "'" text "'" }
    # Only in quotes, doubled at each level, words of a model stay words: a bracket in them would end a string in brackets,
    # and what stands behind it would be run.
    function tell(commands,  to) {
        to = "kak -p " session
        print "try " quote("evaluate-commands -buffer " quote(ENVIRON["buffer"]) " " quote(commands)) | to
        close(to)
    }
    function utf8(code) {
        if (code < 128) return sprintf("%c", code)
        if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
        if (code < 65536) return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
        return sprintf("%c%c%c%c", 240 + int(code / 262144), 128 + int(code / 4096) % 64, 128 + int(code / 64) % 64, 128 + code % 64)
    }
    function hex(digits,  value, at) {
        for (at = 1; at <= 4; at++) value = value * 16 + index("0123456789abcdef", tolower(substr(digits, at, 1))) - 1
        return value
    }
    # The string that begins with the quote at the beginning of `rest`, which is taken off.
    function string(  text, at, code, low) {
        rest = substr(rest, 2)
        while (match(rest, /["\\]/)) {
            text = text substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART)
            if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); return text }
            at = substr(rest, 2, 1)
            if (at == "u") {
                code = hex(substr(rest, 3, 4))
                rest = substr(rest, 7)
                if (code >= 55296 && code < 56320 && substr(rest, 1, 2) == "\\u") {
                    low = hex(substr(rest, 3, 4))
                    code = 65536 + (code - 55296) * 1024 + low - 56320
                    rest = substr(rest, 7)
                }
                text = text utf8(code)
            } else {
                text = text (at == "n" ? "\n" : at == "t" ? "\t" : at == "r" ? "\r" : at == "b" ? "\b" : at == "f" ? "\f" : at)
                rest = substr(rest, 3)
            }
        }
        return text
    }
    function member(name,  at) {
        at = index($0, "\"" name "\":")
        if (at == 0) return ""
        rest = substr($0, at + length(name) + 3)
        if (substr(rest, 1, 1) == "\"") return string()
        match(rest, /^[^,}]*/)
        return substr(rest, 1, RLENGTH)
    }
    /^\{"event":"edit"/ {
        line = member("line"); removed = member("removed")
        rest = substr($0, index($0, "\"lines\":[") + 9)
        text = ""
        while (substr(rest, 1, 1) == "\"") {
            text = text string() "\n"
            if (substr(rest, 1, 1) == ",") rest = substr(rest, 2)
        }
        tell("flemma-edit " line " " removed " " quote(text))
        next
    }
    /^\{"event":"request:sending"/ { tell("set-option buffer flemma_state " quote("waiting for " member("model"))); next }
    /^\{"event":"tool:executing"/ { tell("set-option buffer flemma_state " quote(member("preview"))); next }
    /^\{"event":"stopped"/ { reason = member("reason"); next }
    /^\{"event":"message"/ { $0 = member("text") }
    /^\{/ { next }
    /^exit [0-9]+$/ { code = $2; next }
    command == "approve" && /^For this document, in this session: / { rule = $0; next }
    /^[^ \t]/ && !/flemma recover/ { said = $0 }
    END {
        if (reason == "done") said = "flemma: the reply is complete"
        else if (reason == "pending") said = "flemma: a call waits for you: ctrl-a approves, ctrl-r rejects, ctrl-v shows it"
        else if (reason == "cancelled") said = "flemma: stopped; write below a line @You:, or flemma-advance --continue"
        else if (reason == "last-word") said = "flemma: the last message is the model's; write below a line @You:, or flemma-advance --continue"
        else if (rule != "") said = rule
        else if (code == 0 && (command == "approve" || command == "reject")) {
            said = "flemma: " (command == "approve" ? "approved" : "rejected") "; ctrl-g continues"
        }
        gsub(/\n/, " ", said)
        tell("flemma-finish " quote(client) " " quote(said))
    }
§

# Applies a change of the program. Once the person has changed something too, the end of the run merges both.
define-command -hidden flemma-edit -params 3 %{
    evaluate-commands %sh{ [ "$kak_timestamp" = "$kak_opt_flemma_stamp" ] || echo fail }
    evaluate-commands -draft -save-regs t %{
        set-register t %arg{3}
        evaluate-commands %sh{
            if [ "$2" -gt 0 ]; then
                echo "select $1.1,$(($1 + $2 - 1)).1"
                [ -n "$3" ] && echo "execute-keys 'x\"tR'" || echo "execute-keys 'xd'"
            elif [ "$1" -le "$kak_buf_line_count" ]; then
                echo "select $1.1,$1.1; execute-keys '\"tP'"
            else
                echo "execute-keys 'gex\"tp'"
            fi
        }
    }
    set-option buffer flemma_stamp %val{timestamp}
    set-option -add buffer flemma_edits 1
    execute-keys -draft '%<a-|>cat <gt>"$kak_opt_flemma_dir/live"<ret>'
}

# Ends the run: replaces the streamed text by the final text as one undo step, merged with the person's changes.
define-command -hidden flemma-finish -params 2 %{
    execute-keys -draft '%<a-|>cat <gt>"$kak_opt_flemma_dir/mine"<ret>'
    evaluate-commands %sh{
        dir=$kak_opt_flemma_dir
        quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }
        say() { printf 'try %s\n' "$(quote "evaluate-commands -client $(quote "$1") $(quote "echo -- $(quote "$2")")")"; }
        take() { printf '%s\n' "execute-keys -draft '%|cat \"\$kak_opt_flemma_dir/$1\"<ret>'"; }
        if ! [ -s "$dir/out" ]; then
            say "$1" "flemma: the run did not return its text; to get it: flemma recover"
        elif cmp -s "$dir/mine" "$dir/live"; then
            # Nobody else changed the text: the reply becomes one undo step.
            [ "$kak_opt_flemma_edits" -gt 0 ] && echo "execute-keys -draft '${kak_opt_flemma_edits}u'"
            take out
            say "$1" "$2"
        else
            size=$(wc -c <"$dir/live")
            if head -c "$size" "$dir/mine" | cmp -s - "$dir/live"; then
                # Text below the reply is the next question. The program's empty one is dropped if there is already a marker.
                tail -c "+$((size + 1))" "$dir/mine" >"$dir/tail"
                awk 'NF { exit !/^@You:/ } END { if (!NR) exit 1 }' "$dir/tail" && marked=1 || marked=
                if [ -n "$marked" ]; then
                    awk '{ line[NR] = $0 } END { n = NR; while (n > 0 && line[n] !~ /[^ \t]/) n--; if (line[n] == "@You:") n--; else n = NR
                        for (at = 1; at <= n; at++) print line[at] }' "$dir/out" >"$dir/result"
                    awk 'NF { on = 1 } on' "$dir/tail" >>"$dir/result"
                else
                    cat "$dir/out" "$dir/tail" >"$dir/result"
                fi
                take result
                say "$1" "$2"
            elif command -v diff3 >/dev/null && diff3 -m "$dir/mine" "$dir/live" "$dir/out" >"$dir/result" 2>/dev/null; then
                take result
                say "$1" "$2"
            else
                echo "evaluate-commands -draft -save-regs f %[ set-register f %opt{flemma_dir}; edit -scratch *flemma-reply*; execute-keys '%\"_d!cat \"\$kak_reg_f/out\"<ret>' ]"
                say "$1" "flemma: you and the reply changed the same lines; your text stays, the other is in *flemma-reply*"
            fi
        fi
    }
    nop %sh{ rm -rf "$kak_opt_flemma_dir" }
    set-option buffer flemma_dir ''
    set-option buffer flemma_state ''
}

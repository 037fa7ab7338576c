# Conversations with a model in plain files, for Kakoune.
#
# The program processes the text in the background. Its changes appear in the buffer as they happen, as long as nobody else
# changes it. What the person types meanwhile is merged with the reply at the end.

declare-option -docstring 'name or path of the flemma program' str flemma_program flemma
declare-option -docstring 'current activity of the run in this buffer' str flemma_state
declare-option -hidden str flemma_dir
declare-option -hidden str-list flemma_runs
declare-option -hidden str flemma_chat
declare-option -hidden int flemma_stamp
declare-option -hidden int flemma_edits

hook global BufCreate .*[.]chat %{ set-option buffer filetype chat }

hook global WinSetOption filetype=chat %{
    add-highlighter window/flemma regions
    add-highlighter window/flemma/text default-region group
    add-highlighter window/flemma/text/ regex '^@(You|Assistant|System):' 0:title
    add-highlighter window/flemma/text/ regex '^\*\*(Tool (Use|Result)|Reply):\*\*' 0:function
    add-highlighter window/flemma/text/ regex '\(pending\)' 0:yellow
    add-highlighter window/flemma/text/ regex '\(approved\)' 0:green
    add-highlighter window/flemma/text/ regex '\((rejected|denied|aborted|error)\)' 0:red
    add-highlighter window/flemma/text/ regex '^<!-- flemma:aborted: [^\n]* -->$' 0:red
    add-highlighter window/flemma/text/ regex '\{\{.*?\}\}|\{%.*?%\}' 0:meta
    # What looks like a marker inside a fence is text.
    add-highlighter window/flemma/fence region -match-capture '^(`{3,})[^`\n]*$' '^(`{3,})\h*$' group
    add-highlighter window/flemma/fence/ regex '^`{3,}flemma:tool [^\n]*status=pending' 0:yellow
    add-highlighter window/flemma/fence/ regex '^`{3,}flemma:reply [^\n]*status=batched' 0:yellow
    add-highlighter window/flemma/fence/ regex '^`{3,}flemma:tool [^\n]*status=approved' 0:green
    add-highlighter window/flemma/fence/ regex '^`{3,}flemma:tool [^\n]*status=(rejected|denied|aborted)' 0:red
    map window user m ':enter-user-mode flemma<ret>' -docstring 'conversation'
    hook -group flemma window WinDisplay .* %{ set-option global flemma_chat %val{bufname} }
    set-option global flemma_chat %val{bufname}
    hook -once -always window WinSetOption filetype=.* %{
        remove-highlighter window/flemma
        remove-hooks window flemma
        unmap window user m
    }
}

declare-user-mode flemma
map global flemma m ':flemma-advance<ret>' -docstring 'advance the conversation'
map global flemma k ':flemma-cancel<ret>' -docstring 'cancel the run'
map global flemma w ':flemma-next-waiting<ret>' -docstring 'go to the next waiting call'
map global flemma v ':flemma-show<ret>' -docstring 'show the whole call'
map global flemma a ':flemma-approve<ret>' -docstring 'approve the call at the cursor'
map global flemma A ':flemma-always<ret>' -docstring 'approve it, and calls like it'
map global flemma r ':flemma-reject<ret>' -docstring 'reject it with a reason'
map global flemma e ':flemma-execute<ret>' -docstring 'run or resolve it now'
map global flemma s ':flemma-ask<ret>' -docstring 'ask about the selected lines'
map global flemma t ':flemma-toggle<ret>' -docstring 'go to the conversation and back'
map global flemma y ':flemma-yank<ret>' -docstring 'copy the nearest code block'
map global flemma o ':flemma-model ' -docstring 'switch the model'

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
    evaluate-commands %sh{
        if [ -n "$kak_opt_flemma_dir" ]; then echo "fail 'flemma: a run is already in progress; flemma-cancel cancels it'"; fi
        echo "prompt 'Reason to reject (may be empty): ' %{ flemma-reject-at $kak_cursor_line $kak_timestamp %val{text} }"
    }
}
define-command -hidden flemma-reject-at -params 3 %{
    evaluate-commands %sh{ [ "$2" = "$kak_timestamp" ] || echo "fail 'flemma: the text changed meanwhile, so nothing was rejected'" }
    flemma-start reject --line %arg{1} -m %arg{3}
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
        add-highlighter -override window/flemma-wrap wrap
        execute-keys '%"_d!cat "$kak_reg_f"; rm -f "$kak_reg_f"<ret>gg'
    }
}

define-command flemma-ask -params ..1 -docstring 'flemma-ask [DOCUMENT]: ask about the selected lines in a conversation' \
    -shell-script-candidates %{ ls -d -- *.chat 2>/dev/null } %{
    evaluate-commands %sh{
        if ! [ -f "$kak_buffile" ]; then
            echo "fail 'flemma: save this text to a file first: a conversation refers to files'"
        elif [ -z "$1$kak_opt_flemma_chat" ]; then
            echo "prompt -init notes.chat -file-completion 'Conversation: ' %{ flemma-ask %val{text} }"
        else
            # The selection may have been made upward.
            echo "$kak_selection_desc" | tr ',.' '  ' | awk '{ if ($1 > $3) { first = $3; last = $1 } else { first = $1; last = $3 }
                print "flemma-ask-in %arg{@} %val{buffile} " first (first == last ? "" : "-" last) }'
        fi
    }
}
# Appends a line to the last question, or to a new one.
declare-option -hidden str flemma_append %§
    { line[NR] = $0 }
    /^@(You|Assistant|System):/ { role = $0 }
    END {
        n = NR
        while (n > 0 && line[n] !~ /[^ \t]/) n--
        for (at = 1; at <= n; at++) print line[at]
        if (role !~ /^@You:/) print "\n@You:"
        else if (line[n] !~ /^@/) print ""
        print ENVIRON["line"]
    }
§
# The document may be missing: then it is the one that was used last.
define-command -hidden flemma-ask-in -params 2..3 %{
    flemma-open %sh{ [ $# = 3 ] && printf %s "$1" || printf %s "$kak_opt_flemma_chat" }
    evaluate-commands -save-regs f %{
        set-register f %sh{
            [ $# = 3 ] && shift
            from=${kak_buffile%/*} to=$1 lines=$2 LC_ALL=C awk 'BEGIN {
                m = split(ENVIRON["from"], a, "/"); n = split(ENVIRON["to"], b, "/")
                for (same = 1; same <= m && same < n && a[same] == b[same];) same++
                path = same > m ? "./" : ""
                for (at = same; at <= m; at++) path = path "../"
                for (at = same; at <= n; at++) path = path b[at] (at < n ? "/" : "")
                for (at = 1; at < 128; at++) code[sprintf("%c", at)] = sprintf("%%%02X", at)
                for (at = 1; at <= length(path); at++) {
                    one = substr(path, at, 1)
                    out = out (one in code && one !~ /[A-Za-z0-9._~\/-]/ ? code[one] : one)
                }
                print "@" out "#L" ENVIRON["lines"]
            }'
        }
        execute-keys -draft '%|line="$kak_reg_f" awk "$kak_opt_flemma_append"<ret>'
        execute-keys geo
    }
}
define-command -hidden flemma-open -params 1 %{
    evaluate-commands %sh{
        quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }
        case $1 in *.chat) file=$1 ;; *) file=$1.chat ;; esac
        if ! [ -e "$file" ] && ! said=$("$kak_opt_flemma_program" new --quiet -- "$file" 2>&1); then
            printf 'fail %s\n' "$(quote "$said")"
        else
            printf 'edit %s\n' "$(quote "$file")"
        fi
    }
}
define-command flemma-toggle -docstring 'go to the conversation that was used last, or back' %{
    evaluate-commands %sh{
        if [ "$kak_opt_filetype" = chat ]; then echo 'execute-keys ga'
        elif [ -z "$kak_opt_flemma_chat" ]; then echo "fail 'flemma: no conversation is open'"
        else echo 'buffer %opt{flemma_chat}'; fi
    }
}
define-command flemma-yank -docstring 'copy the code block at the cursor, or the nearest one' %{
    evaluate-commands -draft %{
        evaluate-commands -save-regs f %{
            set-register f %sh{ mktemp "${TMPDIR:-/tmp}/flemma-kak.XXXXXX" }
            execute-keys -draft '%<a-|>cat <gt>"$kak_reg_f"<ret>'
            evaluate-commands %sh{
                awk -v cursor="$kak_cursor_line" '
                    # Input and results of calls do not count.
                    !fence && /^```+[^`]*$/ { open = NR; fence = $0; sub(/[^`].*/, "", fence); of_call = before ~ /^\*\*Tool /; next }
                    fence && /^```+[ \t]*$/ && index($0, fence) == 1 {
                        fence = ""
                        far = cursor < open ? open - cursor : cursor > NR ? cursor - NR : 0
                        if (!of_call && NR > open + 1 && (!found || far < best)) { found = 1; best = far; keys = "select " open + 1 ".1," NR - 1 ".1" }
                        before = ""; next
                    }
                    /[^ \t]/ { before = $0 }
                    END { print found ? keys : "fail flemma: there is no code block" }' "$kak_reg_f"
                rm -f "$kak_reg_f"
            }
        }
        execute-keys -save-regs '' xy
    }
    echo flemma: copied
}
define-command flemma-model -params 1 -docstring 'flemma-model MODEL: switch the model of this document for the session' \
    -shell-script-candidates %{ "$kak_opt_flemma_program" models list | awk '/^  / { print $1 } match($0, /[$][a-z]+$/) { print substr($0, RSTART) }' } %{
    evaluate-commands %sh{
        quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }
        said=$("$kak_opt_flemma_program" session set "model=$1" -- "$kak_buffile" 2>&1) && echo "echo -- $(quote "${said%%
*}")" || echo "fail $(quote "$said")"
    }
}

# Quitting during a run stops it. What was saved is saved again, with the mark. This takes a second at most.
hook -group flemma global KakEnd .* %{
    nop %sh{
        eval "set -- $kak_quoted_opt_flemma_runs"
        for dir; do kill -INT "$(cat "$dir/pid")"; done
        for dir; do
            for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$(cat "$dir/pid")" && sleep 0.1; done
            file=$(cat "$dir/file")
            [ -s "$dir/out" ] && cmp -s "$file" "$dir/live" && cat "$dir/out" >"$file"
            rm -rf "$dir"
        done
    }
}

# Starts a run: saves the current text and passes it to the program. Decisions are waited for, so that keys typed behind
# them act on the text with them.
define-command -hidden flemma-start -params 1.. %{
    evaluate-commands %sh{
        quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"; }
        if [ -n "$kak_opt_flemma_dir" ]; then
            echo "fail 'flemma: a run is already in progress; flemma-cancel cancels it'"
        elif [ "$kak_opt_filetype" != chat ]; then
            echo "fail 'flemma: this buffer is not a conversation'"
        elif [ "$kak_opt_readonly" = true ]; then
            echo "fail 'flemma: this buffer is read-only'"
        elif ! command -v "$kak_opt_flemma_program" >/dev/null; then
            printf 'fail %s\n' "$(quote "flemma: $kak_opt_flemma_program was not found on the path: set the option flemma_program")"
        else
            printf 'set-option buffer flemma_dir %s\n' "$(quote "$(mktemp -d "${TMPDIR:-/tmp}/flemma-kak.XXXXXX")")"
        fi
    }
    set-option -add global flemma_runs %opt{flemma_dir}
    execute-keys -draft '%<a-|>cat <gt>"$kak_opt_flemma_dir/in"<ret>'
    set-option buffer flemma_stamp %val{timestamp}
    set-option buffer flemma_edits 0
    set-option buffer flemma_state %arg{1}
    evaluate-commands %sh{
        dir=$kak_opt_flemma_dir
        cp "$dir/in" "$dir/live"
        printf %s "$kak_buffile" >"$dir/file"
        command=$1
        shift
        case $command in
        advance|send|execute) session=$kak_session; set -- "$@" --events stderr --edits ;;
        *) session=; set -- "$@" --messages stderr ;;
        esac
        # Scratch buffers have no file, and a document without a name is unsaved.
        [ -e "$kak_buffile" ] && set -- "$@" --name "$kak_buffile"
        buffer=$kak_bufname
        export dir buffer
        # mawk reads a whole block before it prints anything, unless it is interactive.
        case $(awk -W version 2>&1 </dev/null) in mawk*) waits='-W interactive' ;; *) waits= ;; esac
        run() {
            {
                sh -c 'echo $$ >"$dir/pid"; exec "$0" "$@"' "$kak_opt_flemma_program" "$command" - "$@" <"$dir/in" >"$dir/out"
                echo "exit $?"
            } 2>&1 | LC_ALL=C awk $waits -v command="$command" -v session="$session" -v client="$kak_client" "$kak_opt_flemma_awk"
        }
        # What a shell redirects for a function only, it keeps open, and Kakoune would wait for that.
        if [ -n "$session" ]; then (exec >/dev/null 2>&1 </dev/null; run "$@") & else run "$@" </dev/null; fi
    }
}

# Reads the program's events and messages, and passes them to the editor. JSON strings become text; bytes stay bytes.
declare-option -hidden str flemma_awk %§
    function quote(text) { gsub(/'/, "''", text); return "'" text "'" }
    # Only in quotes, doubled at each level, words of a model stay words: a bracket in them would end a string in brackets,
    # and what stands behind it would be run.
    function tell(commands,  to) {
        commands = "try " quote("evaluate-commands -buffer " quote(ENVIRON["buffer"]) " " quote(commands))
        if (session == "") { print commands; return }
        to = "kak -p " session
        print commands | to
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
    /^\{"event":"notice","code":"(approval-not-here|was-running)"/ { held = "flemma: " member("message"); next }
    /^\{"event":"stopped"/ { reason = member("reason"); next }
    /^\{"event":"message"/ { $0 = member("text") }
    /^\{/ { next }
    /^exit [0-9]+$/ { code = $2; next }
    command == "approve" && /^For this document, in this session: / { rule = $0; next }
    /^[^ \t]/ && !/flemma recover/ { said = $0 }
    END {
        if (reason == "done") said = "flemma: the reply is complete"
        else if (reason == "pending") said = held != "" ? held : "flemma: a call waits for you: space m a approves, space m r rejects, space m v shows it"
        else if (reason == "cancelled") said = "flemma: stopped; write below a line @You:, or flemma-advance --continue"
        else if (reason == "batched") said = "flemma: the request is in a batch; flemma batch fetch writes the reply"
        else if (reason == "last-word") said = "flemma: the last message is the model's; write below a line @You:, or flemma-advance --continue"
        else if (rule != "") said = rule
        else if (code == 0 && (command == "approve" || command == "reject")) {
            said = "flemma: " (command == "approve" ? "approved" : "rejected") "; space m m continues"
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
            # Text below the reply is the next question. What the person changed above it is merged with the reply.
            last=$(wc -l <"$dir/live")
            from=$(diff -U 0 "$dir/live" "$dir/mine" | awk -v head="-$last,0" '/^@@ / { from = $2 == head ? substr($3, 2) : "" } END { sub(/,.*/, "", from); print from }')
            if [ -n "$from" ]; then
                tail -n "+$from" "$dir/mine" >"$dir/tail"
                head -n "$((from - 1))" "$dir/mine" >"$dir/above"
            else
                cp "$dir/mine" "$dir/above"
                : >"$dir/tail"
            fi
            if cmp -s "$dir/above" "$dir/live"; then
                cp "$dir/out" "$dir/merged"
            else
                diff3 -m "$dir/above" "$dir/live" "$dir/out" >"$dir/merged" 2>/dev/null
            fi
            if [ $? = 0 ]; then
                # The program's empty question is dropped if there is already a marker.
                awk 'NF { exit !/^@You:/ } END { if (!NR) exit 1 }' "$dir/tail" && marked=1 || marked=
                if [ -n "$marked" ]; then
                    awk '{ line[NR] = $0 } END { n = NR; while (n > 0 && line[n] !~ /[^ \t]/) n--; if (line[n] == "@You:") n--; else n = NR
                        for (at = 1; at <= n; at++) print line[at] }' "$dir/merged" >"$dir/result"
                    awk 'NF { on = 1 } on' "$dir/tail" >>"$dir/result"
                else
                    cat "$dir/merged" "$dir/tail" >"$dir/result"
                fi
                take result
                say "$1" "$2"
            else
                echo "evaluate-commands -draft -save-regs f %[ set-register f %opt{flemma_dir}; edit -scratch *flemma-reply*; execute-keys '%\"_d!cat \"\$kak_reg_f/out\"<ret>' ]"
                say "$1" "flemma: you and the reply changed the same lines; your text stays, the other is in *flemma-reply*"
            fi
        fi
    }
    nop %sh{ rm -rf "$kak_opt_flemma_dir" }
    set-option -remove global flemma_runs %opt{flemma_dir}
    set-option buffer flemma_dir ''
    set-option buffer flemma_state ''
}

" Colours of a conversation: Markdown, and what is more than text in it.
if exists('b:current_syntax')
  finish
endif
runtime! syntax/markdown.vim
unlet! b:current_syntax

syntax match chatRole "^@\%(You\|Assistant\|System\):.*$"
syntax match chatBlock "^\*\*Tool \%(Use\|Result\):\*\*.*$" contains=chatName,chatError,chatPending,chatApproved,chatRefused
syntax match chatBlock "^\*\*Reply:\*\* `batch .*$" contains=chatName
syntax match chatName "`[^`]*`" contained
syntax match chatError "(error)" contained
syntax match chatPending "(pending)" contained
syntax match chatApproved "(approved)" contained
syntax match chatRefused "(\%(rejected\|denied\|aborted\))" contained
" What looks like a marker inside a fence is text.
syntax region chatCode matchgroup=chatFence start="^\z(`\{3,}\)[^`]*$"rs=s+3 end="^\z1`*\s*$" keepend contains=chatStatus
syntax match chatStatus "flemma:\%(tool\|reply\).*$" contained contains=chatPendingWord,chatApprovedWord,chatRefusedWord
syntax match chatPendingWord "status=\zs\c\%(pending\|batched\)\>" contained
syntax match chatApprovedWord "status=\zs\capproved\>" contained
syntax match chatRefusedWord "status=\zs\c\%(rejected\|denied\|aborted\)\>" contained
syntax match chatTemplate "{{.\{-}}}\|{%.\{-}%}"
syntax match chatAborted "^<!-- flemma:aborted: .* -->$"
syntax match chatFile "@\%(\./\|\.\./\|/\|\~/\)\S\+"
syntax region chatThinking start="^<thinking\>.*[^/]>\s*$\|^<thinking>\s*$" end="^</thinking>\s*$" keepend
syntax region chatThinking start="^<server_tool\s.*>\s*$" end="^</server_tool>\s*$" keepend
syntax sync clear
syntax sync match chatSync grouphere NONE "^@\%(You\|Assistant\|System\):\s*$"

highlight default link chatRole Title
highlight default link chatBlock Statement
highlight default link chatName Identifier
highlight default link chatError ErrorMsg
highlight default link chatPending WarningMsg
highlight default link chatPendingWord WarningMsg
highlight default link chatApproved DiffAdd
highlight default link chatApprovedWord DiffAdd
highlight default link chatRefused DiffDelete
highlight default link chatRefusedWord DiffDelete
highlight default link chatFence Delimiter
highlight default link chatStatus Special
highlight default link chatTemplate PreProc
highlight default link chatAborted ErrorMsg
highlight default link chatFile Underlined
highlight default link chatThinking Comment

let b:current_syntax = 'chat'

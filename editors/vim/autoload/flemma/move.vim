" Movements in a conversation.

let s:ROLE = '^@\%(You\|Assistant\|System\):'
let s:WAITING = '^`\{3,}flemma:tool\s\+status=pending\|^\*\*Tool Result:\*\*.*(pending)'

" Moves to the next message, or with 'b' to the previous one.
function! flemma#move#message(flags) abort
  call s:search(s:ROLE, a:flags . 'W')
endfunction

" Moves to the next waiting call, wrapping around the end.
function! flemma#move#waiting(flags) abort
  if !s:search(s:WAITING, a:flags . 'w')
    call flemma#say('no call is waiting', 'None')
  endif
endfunction

" Moves from a call to its result, or back.
function! flemma#move#partner() abort
  let header = flemma#fold#search('^\*\*Tool \%(Use\|Result\):\*\*', 'bcnW')
  let text = getline(header)
  let id = text =~# '^\*\*Tool Use' ? matchstr(text, '(`\zs[^`]*\ze`)') : matchstr(text, '`\zs[^`]*\ze`')
  if header == 0 || id ==# ''
    return flemma#say('no call here', 'None')
  endif
  let word = '`' . escape(id, '\.*[]^$~') . '`'
  if text =~# '^\*\*Tool Use'
    let found = s:search('^\*\*Tool Result:\*\* ' . word, 'W')
  else
    let found = s:search('^\*\*Tool Use:\*\* `[^`]*` (' . word . ')', 'bW')
  endif
  if !found
    call flemma#say('no call or result belongs to ' . id, 'None')
  endif
endfunction

function! s:search(pattern, flags) abort
  let from = getpos('.')
  let found = flemma#fold#search(a:pattern, a:flags)
  if found
    " For the jump list.
    let at = getpos('.')
    call setpos('.', from)
    normal! m'
    call setpos('.', at)
    call flemma#fold#open('.')
  endif
  return found
endfunction

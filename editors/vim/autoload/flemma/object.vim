" Text objects: a message, and a call or result.

let s:ROLE = '^@\%(You\|Assistant\|System\):'

" Selects the message at the cursor: all of it, or with 'i' what stands below its marker.
function! flemma#object#message(kind) abort
  let first = flemma#fold#search(s:ROLE, 'bcnW')
  if first == 0
    return
  endif
  call cursor(first, 1)
  let next = flemma#fold#search(s:ROLE, 'nW')
  let next = next > 0 ? next : line('$') + 1
  if a:kind ==# 'a'
    return s:select(first, next - 1)
  endif
  call s:select(nextnonblank(first + 1), prevnonblank(next - 1))
endfunction

" Selects the call or result at the cursor: all of it, or with 'i' what stands between its fences.
function! flemma#object#call(kind) abort
  let header = flemma#fold#search('^\*\*Tool \%(Use\|Result\):\*\*', 'bcnW')
  if header == 0
    return
  endif
  let open = s:below(header, '^```')
  let close = s:below(open, '^' . matchstr(getline(open), '^`*') . '`*\s*$')
  if close > line('$') || line('.') > close
    return
  endif
  if a:kind ==# 'a'
    return s:select(header, close)
  endif
  call s:select(open + 1, close - 1)
endfunction

" False if there is certainly no call or result at the cursor.
function! flemma#object#may_be_call() abort
  let header = flemma#fold#search('^\*\*Tool \%(Use\|Result\):\*\*\|' . s:ROLE, 'bcnW')
  if header == 0 || getline(header) =~# s:ROLE
    return 0
  endif
  let open = s:below(header, '^```')
  return line('.') <= s:below(open, '^' . matchstr(getline(open), '^`*') . '`*\s*$')
endfunction

" The first line below one that matches; one past the end when none does.
function! s:below(from, pattern) abort
  let at = a:from + 1
  while at <= line('$') && getline(at) !~# a:pattern
    let at += 1
  endwhile
  return at
endfunction

function! s:select(first, last) abort
  if a:first > 0 && a:first <= a:last
    execute 'normal! ' . a:first . 'GV' . a:last . 'G'
  endif
endfunction

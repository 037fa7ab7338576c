" Folds: a message each, and closed inside of it what tools answered and what the model thought.

let s:ROLE = '^@\%(You\|Assistant\|System\):\s*$'

" The fold level of a line. 'foldexpr' asks for it where b:flemma_folds is older than the text.
function! flemma#fold#level(line) abort
  return get(s:read().levels, a:line - 1, 0)
endfunction

" Like search(), past what is text in a fence: there nothing is a message, a call or a result.
function! flemma#fold#search(pattern, flags) abort
  let from = getpos('.')
  let levels = s:read().levels
  let first = search(a:pattern, substitute(a:flags, 'n', '', ''))
  let found = first
  while found > 0 && type(levels[found - 1]) == v:t_string && levels[found - 1][0] !=# '>'
    let found = search(a:pattern, substitute(a:flags, '[cn]', '', 'g'))
    let found = found == first ? 0 : found
  endwhile
  if found == 0 || a:flags =~# 'n'
    call setpos('.', from)
  endif
  return found
endfunction

" What is known of the lines of this buffer as they are.
function! s:read() abort
  if get(s:expected, 'buf', 0) == bufnr('%')
    return s:expected
  endif
  let known = get(b:, 'flemma_folds', {})
  if get(known, 'tick', -1) != b:changedtick
    let lines = getline(1, '$')
    call extend(known, {'buf': bufnr('%'), 'lines': [], 'levels': []}, 'keep')
    let same = flemma#follow#alike(known.lines, lines)
    let [known.tick, known.lines] = [b:changedtick, lines]
    call s:update(known, same)
    let b:flemma_folds = known
  endif
  return known
endfunction

" Finds levels again where the first `same` lines are as they were. A message depends on nothing before it, so reading
" begins at the last one of them.
function! s:update(known, same) abort
  let from = a:same
  while from > 0 && a:known.levels[from - 1] isnot# '>1'
    let from -= 1
  endwhile
  let from = max([from - 1, 0])
  if from < len(a:known.levels)
    call remove(a:known.levels, from, -1)
  endif
  call extend(a:known.levels, s:levels(a:known.lines, from))
endfunction

" The known lines that the program is about to write; an editor asks for levels in the middle of that.
let s:expected = {}

" The program is about to replace lines: what comes of them is found without reading all of a long text again.
function! flemma#fold#expect(buf, line, removed, new) abort
  let known = getbufvar(a:buf, 'flemma_folds', {'tick': -1})
  if known.tick == getbufvar(a:buf, 'changedtick')
    let known.tick = -1
    call flemma#follow#splice(known.lines, a:line, a:removed, a:new)
    call s:update(known, min([a:line - 1, len(known.levels)]))
    let s:expected = known
  endif
endfunction

" The lines are written; if not all of them, they are read again.
function! flemma#fold#written(done) abort
  if !empty(s:expected) && a:done
    let s:expected.tick = getbufvar(s:expected.buf, 'changedtick')
  endif
  let s:expected = {}
endfunction

" Returns the levels of the lines from one on: a string without `>` where the line is text in a fence. An answer is folded
" from its fence on, its header stays in sight: Vim asks about lines that changed only, and the fence is what changes when an
" answer takes the place of a word that waits.
function! s:levels(lines, from) abort
  let levels = []
  let [answer, from, last] = [0, a:from, len(a:lines) - 1]
  while from <= last
    " Only these lines begin something; most lines are none of them. The old engine is faster for such patterns.
    let at = match(a:lines, '\%#=1^[@<`*]', from)
    let gap = (at < 0 ? last + 1 : at) - from
    if gap > 0
      let levels += repeat([1], gap)
      " Text ends the place where an answer may begin.
      let answer = answer && match(a:lines, '\S', from) >= at
    endif
    if at < 0
      break
    endif
    let [line, level, end] = [a:lines[at], 1, '']
    if line =~# s:ROLE
      let [level, answer] = ['>1', 0]
    elseif stridx(line, '**Tool Result:**') == 0
      let answer = 1
    elseif line =~# '^`\{3,}[^`]*$'
      let end = matchstr(line, '^`\+') . '`*\s*$'
      " What waits for the person stays in sight.
      let [level, inner] = answer && line !~# '^`\+flemma:' ? ['>2', '2'] : [1, '1']
      let answer = 0
    elseif line =~# '^<thinking\>' && line !~# '/>\s*$'
      let [end, level, inner, answer] = ['</thinking>', '>2', 2, 0]
    elseif line =~# '^<server_tool\s'
      let [end, level, inner, answer] = ['</server_tool>', '>2', 2, 0]
    else
      let answer = 0
    endif
    call add(levels, level)
    let from = at + 1
    if end !=# '' && at < last
      let close = match(a:lines, '\%#=1^' . end, from)
      let from = (close < 0 ? last : close) + 1
      let levels += repeat([inner], from - at - 1)
    endif
  endwhile
  return levels
endfunction

" Opens the folds that hide a line. A fold that is open already stays as it is: what Vim was told to open, it opens
" for all that comes into it later.
function! flemma#fold#open(line) abort
  if foldclosed(a:line) > 0
    normal! zv
  endif
endfunction

" One line for a closed fold: the tool and the first words of its answer.
function! flemma#fold#text() abort
  let first = getline(v:foldstart)
  let size = ' (' . (v:foldend - v:foldstart + 1) . ' lines) '
  if first !~# '^```'
    return '+ ' . (first =~# '^<thinking' ? 'thinking: ' . s:words(v:foldstart + 1)
      \ : first =~# '^<server_tool' ? s:words(v:foldstart + 1) : first) . size
  endif
  let header = getline(prevnonblank(v:foldstart - 1))
  let id = matchstr(header, '`\zs[^`]*\ze`')
  " A call is not far above its result.
  let at = v:foldstart
  while at > 0 && (getline(at) !~# '^\*\*Tool Use:\*\*' || stridx(getline(at), '(`' . id . '`)') < 0)
    let at -= 1
  endwhile
  let name = at == 0 ? id : matchstr(getline(at), '`\zs[^`]*\ze`')
  return '+ ' . name . ': ' . (header =~# '(error)' ? '(error) ' : '') . s:words(v:foldstart + 1) . size
endfunction

" The first words of a block.
function! s:words(from) abort
  for line in getline(a:from, min([v:foldend, a:from + 10]))
    if line =~# '\S' && line !~# '^```\|^</thinking'
      return strcharpart(trim(line), 0, 60)
    endif
  endfor
  return 'no output'
endfunction

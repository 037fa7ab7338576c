" Folds: a message each, and closed inside of it what tools answered and what the model thought.

let s:ROLE = '^@\%(You\|Assistant\|System\):\s*$'
let s:RESULT = '^\*\*Tool Result:\*\*'

" What holds for each line by the end of the last look: level, and the lines it was found for.
let s:known = {}

" The fold level of a line, for 'foldexpr'.
function! flemma#fold#level(line) abort
  return get(s:read().levels, a:line - 1, 0)
endfunction

" Like search(), past what is text in a fence: there nothing is a message, a call or a result.
function! flemma#fold#search(pattern, flags) abort
  let from = getpos('.')
  let inside = s:read().inside
  let first = search(a:pattern, substitute(a:flags, 'n', '', ''))
  let found = first
  while found > 0 && inside[found - 1]
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
  let known = get(s:known, bufnr('%'), {'tick': -1, 'lines': [], 'levels': [], 'inside': []})
  if known.tick != b:changedtick
    let lines = getline(1, '$')
    let same = flemma#follow#alike(known.lines, lines)
    " A message depends on nothing before it, so reading begins again at the last one that is as it was.
    let from = same
    while from > 0 && lines[from - 1] !~# s:ROLE
      let from -= 1
    endwhile
    let from = max([from - 1, 0])
    let [levels, inside] = s:levels(lines, from)
    let known = {'tick': b:changedtick, 'lines': lines,
          \ 'levels': (from > 0 ? known.levels[: from - 1] : []) + levels,
          \ 'inside': (from > 0 ? known.inside[: from - 1] : []) + inside}
    let s:known[bufnr('%')] = known
  endif
  return known
endfunction

" An answer is folded from its fence on, its header stays in sight: Vim asks about lines that changed only, and the fence
" is what changes when an answer takes the place of a word that waits.
function! s:levels(lines, from) abort
  let [levels, insides] = [[], []]
  let [fence, block, thinking, answer] = ['', 0, 0, 0]
  for line in a:lines[a:from :]
    let [level, inside] = [block ? 2 : 1, fence !=# '']
    if fence !=# ''
      if line =~# '^' . fence . '`*\s*$'
        let [fence, block] = ['', 0]
      endif
    elseif thinking
      if line =~# '^</thinking>'
        let [thinking, block] = [0, 0]
      endif
    elseif line =~# s:ROLE
      let [level, answer] = ['>1', 0]
    elseif line =~# s:RESULT
      let answer = 1
    elseif line =~# '^<thinking\>' && line !~# '/>\s*$'
      let [level, block, thinking] = ['>2', 1, 1]
    elseif line =~# '^`\{3,}[^`]*$'
      let fence = matchstr(line, '^`\+')
      " What waits for the person stays in sight.
      if answer && line !~# '^`\+flemma:'
        let [level, block] = ['>2', 1]
      endif
      let answer = 0
    elseif line =~# '\S'
      let answer = 0
    endif
    call add(levels, level)
    call add(insides, inside)
  endfor
  return [levels, insides]
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
    return '+ ' . (first =~# '^<thinking' ? 'thinking: ' . s:words(v:foldstart + 1) : first) . size
  endif
  let header = getline(prevnonblank(v:foldstart - 1))
  let id = matchstr(header, '`\zs[^`]*\ze`')
  let calls = filter(reverse(getline(1, v:foldstart)), {_, line -> line =~# '^\*\*Tool Use:\*\*' && stridx(line, '(`' . id . '`)') > 0})
  let name = empty(calls) ? id : matchstr(calls[0], '`\zs[^`]*\ze`')
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

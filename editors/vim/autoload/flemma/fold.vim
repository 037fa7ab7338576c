" Folds: a message each, and closed inside of it what tools answered and what the model thought.

let s:ROLE = '^@\%(You\|Assistant\|System\):\s*$'
let s:RESULT = '^\*\*Tool Result:\*\*'

" What holds for each line by the end of the last look: level, and the lines it was found for.
let s:known = {}

" The fold level of a line, for 'foldexpr'.
function! flemma#fold#level(line) abort
  let known = get(s:known, bufnr('%'), {'tick': -1, 'lines': [], 'levels': []})
  if known.tick != b:changedtick
    let lines = getline(1, '$')
    let same = flemma#follow#alike(known.lines, lines)
    " A message depends on nothing before it, so reading begins again at the last one that is as it was.
    let from = same
    while from > 0 && lines[from - 1] !~# s:ROLE
      let from -= 1
    endwhile
    let from = max([from - 1, 0])
    let levels = (from > 0 ? known.levels[: from - 1] : []) + s:levels(lines, from)
    let known = {'tick': b:changedtick, 'lines': lines, 'levels': levels}
    let s:known[bufnr('%')] = known
  endif
  return get(known.levels, a:line - 1, 0)
endfunction

" An answer is folded from its fence on, its header stays in sight: Vim asks about lines that changed only, and the fence
" is what changes when an answer takes the place of a word that waits.
function! s:levels(lines, from) abort
  let levels = []
  let [fence, block, thinking, answer] = ['', 0, 0, 0]
  for line in a:lines[a:from :]
    let level = block ? 2 : 1
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
    elseif line =~# '^```'
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
  endfor
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

" Folds: a message each, and closed inside of it what tools answered and what the model thought.

let s:ROLE = '^@\%(You\|Assistant\|System\):\s*$'
let s:RESULT = '^\*\*Tool Result:\*\*'

" What holds for each line by the end of the last look, by buffer; and the look at the current buffer.
let s:known = {}
let s:look = {'buf': 0, 'tick': -1, 'levels': []}

" The fold level of a line, for 'foldexpr'. An editor calls it for every line, so it does as little as it can.
function! flemma#fold#level(line) abort
  if s:look.tick != b:changedtick || s:look.buf != bufnr('')
    call s:read()
  endif
  return get(s:look.levels, a:line - 1, 0)
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
  let buf = bufnr('%')
  if get(s:expected, 'buf', 0) == buf
    return s:expected
  endif
  let known = get(s:known, buf, {'buf': buf, 'tick': -1, 'lines': [], 'levels': [], 'inside': []})
  if known.tick != b:changedtick
    let lines = getline(1, '$')
    let same = flemma#follow#alike(known.lines, lines)
    let [known.tick, known.lines] = [b:changedtick, lines]
    call s:update(known, same)
    let s:known[buf] = known
  endif
  let s:look = known
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
  let [levels, inside] = s:levels(a:known.lines, from)
  if from < len(a:known.levels)
    call remove(a:known.levels, from, -1)
    call remove(a:known.inside, from, -1)
  endif
  call extend(a:known.levels, levels)
  call extend(a:known.inside, inside)
endfunction

" The known lines that the program is about to write; an editor asks for levels in the middle of that.
let s:expected = {}

" The program is about to replace lines: what comes of them is found without reading all of a long text again.
function! flemma#fold#expect(buf, line, removed, new) abort
  let known = get(s:known, a:buf, {'tick': -1})
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

" An answer is folded from its fence on, its header stays in sight: Vim asks about lines that changed only, and the fence
" is what changes when an answer takes the place of a word that waits.
function! s:levels(lines, from) abort
  let [levels, insides] = [[], []]
  let [fence, block, thinking, answer, before] = ['', 0, 0, 0, a:from]
  " Only these lines begin or end something; most lines are none of them.
  let marks = filter(range(a:from, len(a:lines) - 1), 'a:lines[v:val] =~# "^[@<`*]"')
  for at in marks + [len(a:lines)]
    " The lines between are as the last mark left it. Text ends the place where an answer may begin.
    let gap = at - before
    if gap > 0
      let levels += repeat([block ? 2 : 1], gap)
      let insides += repeat([fence !=# ''], gap)
      let answer = answer && fence ==# '' && match(a:lines, '\S', before) >= at
    endif
    if at == len(a:lines)
      break
    endif
    let before = at + 1
    let line = a:lines[at]
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
    else
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

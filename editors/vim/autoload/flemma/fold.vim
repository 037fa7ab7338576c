" Folds: a message each, and closed inside of it what tools answered and what the model thought.

" The fold level of a line. 'foldexpr' asks for it if b:flemma_levels, those of the lines at b:flemma_tick, are older than
" the text.
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
  let known = get(b:, 'flemma_folds', {'buf': bufnr('%'), 'lines': [], 'levels': []})
  if get(b:, 'flemma_tick', -1) != b:changedtick
    let lines = getline(1, '$')
    let same = flemma#follow#alike(known.lines, lines)
    let known.lines = lines
    call s:update(known, same)
    let [b:flemma_folds, b:flemma_levels, b:flemma_tick] = [known, known.levels, b:changedtick]
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
  call extend(a:known.levels, s:levels(a:known.lines[from :]))
endfunction

" The known lines that the program is about to write; an editor asks for levels in the middle of that.
let s:expected = {}

" The program is about to replace lines: what comes of them is found without reading all of a long text again.
function! flemma#fold#expect(buf, line, removed, new) abort
  let known = getbufvar(a:buf, 'flemma_folds', {})
  if !empty(known) && getbufvar(a:buf, 'flemma_tick') == getbufvar(a:buf, 'changedtick')
    call setbufvar(a:buf, 'flemma_tick', -1)
    call flemma#follow#splice(known.lines, a:line, a:removed, a:new)
    call s:update(known, min([a:line - 1, len(known.levels)]))
    let s:expected = known
  endif
endfunction

" The lines are written; if not all of them, they are read again.
function! flemma#fold#written(done) abort
  if !empty(s:expected) && a:done
    call setbufvar(s:expected.buf, 'flemma_tick', getbufvar(s:expected.buf, 'changedtick'))
  endif
  let s:expected = {}
endfunction

" Returns the levels of lines: a string without `>` where the line is text in a fence. An answer is folded from its fence on,
" its header stays in sight: Vim asks about lines that changed only, and the fence is what changes when an answer takes the
" place of a word that waits. Vim's first language would take ten times as long.
function! s:levels(lines) abort
  return has('nvim') ? luaeval('require("flemma.fold").levels(_A)', a:lines) : flemma#vim9#Levels(a:lines)
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

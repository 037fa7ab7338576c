" Random work of two writers in one buffer. Vim or Neovim runs this as `-S`; what is wrong goes into the file $FAULTS.
"
" The person types lines that begin with `p`, the program lines that begin with `f`, each with a number of its own. After each
" step: the program's lines are what it made of them; outside of hunks the buffer holds them; nothing of the person is lost
" but by the person.

set nocompatible noswapfile
let s:faults = []
let s:seed = str2nr($SEED)
let s:number = 0

function! s:random(below) abort
  let s:seed = (s:seed * 1103515245 + 12345) % 2147483648
  return a:below <= 0 ? 0 : (s:seed / 65536) % a:below
endfunction

function! s:lines(letter, count) abort
  let lines = []
  for _ in range(a:count)
    let s:number += 1
    call add(lines, a:letter . s:number)
  endfor
  return lines
endfunction

function! s:check(f, want, typed, what) abort
  let buffer = getline(1, '$') ==# [''] ? [] : getline(1, '$')
  let faults = []
  if a:f.lines !=# a:want
    call add(faults, 'the known lines are ' . string(a:f.lines) . ', not ' . string(a:want))
  endif
  let missing = filter(copy(a:typed), {_, text -> index(buffer, text) < 0})
  if !empty(missing)
    call add(faults, 'lost ' . string(missing))
  endif
  let [known, line] = [1, 1]
  " One empty line is shown where there is none: until somebody does something the hunks do not know of it.
  for h in a:f.hunks + (empty(buffer) ? [] : [{'s': len(a:want) + 1, 'n': 0, 'b': len(buffer) + 1, 'm': 0}])
    if h.s - known != h.b - line || h.n < 0 || h.m < 0
      call add(faults, 'hunks ' . string(a:f.hunks))
      break
    endif
    let [same, here] = [a:want[known - 1 : h.s - 2], buffer[line - 1 : h.b - 2]]
    if h.s > known && same !=# here
      call add(faults, 'outside of hunks stands ' . string(here) . ', not ' . string(same))
    endif
    let [known, line] = [h.s + h.n, h.b + h.m]
  endfor
  if !a:f.conflict && empty(filter(copy(buffer), {_, text -> text =~# '^p'})) && empty(a:f.hunks) && buffer !=# a:want
    call add(faults, 'the buffer is ' . string(buffer))
  endif
  call extend(s:faults, map(faults, {_, fault -> a:what . ': ' . fault}))
  return empty(faults)
endfunction

function! s:play(round) abort
  enew!
  call setline(1, s:lines('f', 1 + s:random(6)))
  let want = getline(1, '$')
  let typed = []
  let f = flemma#follow#start(bufnr('%'))
  for step in range(12)
    let what = 'round ' . a:round . ', step ' . step
    if s:random(2)
      let from = 1 + s:random(len(want) + 1)
      let removed = min([s:random(3), len(want) - from + 1])
      let new = s:lines('f', s:random(3))
      let what .= ', the program at ' . from . ' removes ' . removed . ' puts ' . string(new)
      let want = (from > 1 ? want[: from - 2] : []) + new + want[from - 1 + removed :]
      call flemma#follow#edit(f, from, removed, new)
    else
      let at = 1 + s:random(line('$'))
      let kind = s:random(3)
      let what .= ', the person at ' . at . ' kind ' . kind
      if kind == 0
        let new = s:lines('p', 1 + s:random(2))
        call append(s:random(2) ? at : at - 1, new)
        let typed += new
      elseif kind == 1
        let gone = getline(at)
        let new = s:lines('p', 1)
        call setline(at, new)
        let typed = filter(typed + new, {_, text -> text !=# gone})
      else
        let gone = getline(at)
        execute at . 'delete _'
        let typed = filter(typed, {_, text -> text !=# gone})
      endif
      if exists('*listener_flush')
        call listener_flush(bufnr('%'))
      endif
    endif
    if !s:check(f, want, typed, what)
      break
    endif
  endfor
  call flemma#follow#stop(f)
  bwipeout!
endfunction

try
  for s:round in range(str2nr($ROUNDS))
    call s:play(s:round)
    if len(s:faults) > 3
      break
    endif
  endfor
catch
  call add(s:faults, v:exception . ' at ' . v:throwpoint)
endtry
call writefile(s:faults, $FAULTS)
qall!

" Two writers in one buffer: what the program changes goes where it belongs, whatever the person typed meanwhile.
"
" The program counts in the lines it knows (`lines`), which are those it was given and what it made of them. The buffer
" holds the same lines but for some places, the hunks: there the person has been at work. A hunk says that the `n` known
" lines from `s` on stand in the buffer as the `m` lines from `b` on. Hunks are in order and do not touch each other.

" Begins to follow a buffer whose text the program was given.
function! flemma#follow#start(buf) abort
  let f = {'buf': a:buf, 'lines': getbufline(a:buf, 1, '$'), 'hunks': [], 'own': 0, 'conflict': 0, 'deaf': 0, 'last': 'person'}
  if has('nvim')
    call luaeval('vim.api.nvim_buf_attach(_A, false, {
          \ on_lines = function(_, buf, _, first, last, new)
          \   return vim.fn["flemma#follow#changed"](buf, first + 1, last + 1, new - last) == 0 or nil
          \ end})', a:buf)
  else
    let f.listener = listener_add({_b, _s, _e, _a, changes -> s:heard(f, changes)}, a:buf)
  endif
  let s:followed[a:buf] = f
  return f
endfunction

function! flemma#follow#stop(f) abort
  if !has('nvim')
    call listener_remove(a:f.listener)
  endif
  if get(s:followed, a:f.buf, {}) is a:f
    call remove(s:followed, a:f.buf)
  endif
endfunction

let s:followed = {}

" The buffer was read anew from its file: nobody told what became of its lines, so it is left alone from now on.
function! flemma#follow#reloaded(buf) abort
  if has_key(s:followed, a:buf)
    let s:followed[a:buf].deaf = 1
    let s:followed[a:buf].conflict = 1
  endif
endfunction

" Neovim tells a change: the lines from `first` up to the one before `end` gave way, and there are `added` more now.
" Answers whether anybody wants to hear more.
function! flemma#follow#changed(buf, first, end, added) abort
  if !has_key(s:followed, a:buf)
    return 0
  endif
  call s:person(s:followed[a:buf], a:first, a:end, a:added)
  return 1
endfunction

" Vim tells changes some time after they were made, in order.
function! s:heard(f, changes) abort
  for change in a:changes
    call s:person(a:f, change.lnum, change.end, change.added)
  endfor
endfunction

" The person changed something: it becomes a hunk, together with the hunks it touches.
function! s:person(f, first, end, added) abort
  if a:f.own
    return
  endif
  let a:f.last = 'person'
  call s:see_empty(a:f)
  let [first, end] = [a:first, a:end]
  let known = [flemma#follow#known(a:f, first), flemma#follow#known(a:f, end)]
  let kept = []
  let conflict = 0
  for h in a:f.hunks
    if h.b + h.m < first || end < h.b
      call add(kept, h)
    else
      let [first, end] = [min([first, h.b]), max([end, h.b + h.m])]
      let known = [min([known[0], h.s]), max([known[1], h.s + h.n])]
      let conflict = conflict || h.conflict
    endif
  endfor
  for h in kept
    if h.b >= end
      let h.b += a:added
    endif
  endfor
  let h = {'s': known[0], 'n': known[1] - known[0], 'b': first, 'm': end - first + a:added, 'conflict': conflict}
  let a:f.hunks = sort(add(kept, h), {x, y -> x.b - y.b})
endfunction

" The known line at which a line of the buffer stands; inside of a hunk the first one behind it.
function! flemma#follow#known(f, line) abort
  let shift = 0
  for h in a:f.hunks
    if h.b + h.m > a:line
      return h.b < a:line ? h.s + h.n : a:line + shift
    endif
    let shift = (h.s + h.n) - (h.b + h.m)
  endfor
  return a:line + shift
endfunction

" The line of the buffer at which a known line stands; inside of a hunk its first one. What is put in there goes above
" what the person put in at the same place, when `above` says so.
function! flemma#follow#place(f, line, above) abort
  let shift = 0
  for h in a:f.hunks
    if h.s > a:line || (h.s == a:line && a:above)
      break
    elseif h.s + h.n > a:line
      return h.b
    endif
    let shift = (h.b + h.m) - (h.s + h.n)
  endfor
  return a:line + shift
endfunction

" The program replaced `removed` of its lines from `line` on by `new`. Where the person was at work in the same lines, the
" buffer stays theirs; `conflict` says that there is such a place.
function! flemma#follow#edit(f, line, removed, new) abort
  if a:f.deaf
    return flemma#follow#splice(a:f.lines, a:line, a:removed, a:new)
  endif
  call s:settle(a:f)
  let [from, to] = [a:line, a:line + a:removed]
  let grown = len(a:new) - a:removed
  let place = flemma#follow#place(a:f, from, a:removed == 0)
  let hunks = []
  let hit = {}
  for h in a:f.hunks
    if h.s + h.n <= from && !(h.n == 0 && h.s == from && a:removed == 0)
      call add(hunks, h)
    elseif h.s >= to
      let h.s += grown
      if empty(hit)
        let h.b += grown
      endif
      call add(hunks, h)
    elseif empty(hit)
      let hit = h
      let h.conflict = 1
      " What the hunk does not hold of these lines it holds from now on, on both sides.
      let before = max([h.s - from, 0])
      let behind = max([to - (h.s + h.n), 0])
      let [h.s, h.b] = [h.s - before, h.b - before]
      let [h.n, h.m] = [h.n + before + behind, h.m + before + behind]
      call add(hunks, h)
    else
      " One more in the same lines: both become one, with what stands between them.
      let end = max([hit.s + hit.n, h.s + h.n])
      let hit.m = h.b + h.m - hit.b + (end - (h.s + h.n))
      let hit.n = end - hit.s
    endif
  endfor
  if !empty(hit)
    let hit.n += grown
  endif
  let a:f.hunks = hunks
  call flemma#follow#splice(a:f.lines, from, a:removed, a:new)
  if empty(hit)
    call s:write(a:f, place, a:removed, a:new)
  else
    let a:f.conflict = 1
  endif
endfunction

" The program's whole text is this: what is not yet so is changed.
function! flemma#follow#finish(f, lines) abort
  let [old, new] = [a:f.lines, a:lines]
  if old ==# new
    return
  endif
  let head = flemma#follow#alike(old, new)
  let tail = flemma#follow#alike(reverse(old[head :]), reverse(new[head :]))
  call flemma#follow#edit(a:f, head + 1, len(old) - head - tail, new[head : len(new) - tail - 1])
endfunction

" How many lines at the beginning of two lists are alike.
function! flemma#follow#alike(a, b) abort
  let [low, high] = [0, min([len(a:a), len(a:b)])]
  while low < high
    let middle = (low + high + 1) / 2
    if a:a[low : middle - 1] ==# a:b[low : middle - 1]
      let low = middle
    else
      let high = middle - 1
    endif
  endwhile
  return low
endfunction

" The program ended its turn with an empty question. Whoever typed the next one below it already needs no second marker.
function! flemma#follow#drop_prompt(f) abort
  if a:f.deaf
    return
  endif
  call s:settle(a:f)
  let h = get(a:f.hunks, -1, {})
  let typed = empty(h) || h.n > 0 || h.s <= len(a:f.lines) ? [] : getbufline(a:f.buf, h.b, h.b + h.m - 1)
  let first = match(typed, '\S')
  let at = len(a:f.lines)
  while at > 0 && a:f.lines[at - 1] !~# '\S'
    let at -= 1
  endwhile
  if first < 0 || typed[first] !~# '^@You:' || at == 0 || a:f.lines[at - 1] !=# '@You:'
    return
  endif
  " Blank lines that the person left above their own marker go with it: the one above ours stays.
  call s:write(a:f, h.b - (len(a:f.lines) - at + 1), len(a:f.lines) - at + 1 + first, [])
endfunction

" Writes into the buffer. All that the program writes without the person in between is one step of undo.
function! s:write(f, line, removed, new) abort
  let a:f.own = 1
  " While somebody types there is one step of undo for what both do: taking it apart under their hands is not safe.
  let typing = mode() =~# '^[iR]' && bufnr('%') == a:f.buf
  let done = 0
  try
    if !typing
      call s:join_undo(a:f)
    endif
    call flemma#fold#expect(a:f.buf, a:line, a:removed, a:new)
    let same = min([a:removed, len(a:new)])
    if same > 0
      call setbufline(a:f.buf, a:line, a:new[: same - 1])
    endif
    if a:removed > same
      silent call deletebufline(a:f.buf, a:line + same, a:line + a:removed - 1)
    elseif len(a:new) > same
      call appendbufline(a:f.buf, a:line + same - 1, a:new[same :])
    endif
    if !typing
      call s:break_undo(a:f.buf)
    endif
    if !has('nvim')
      call listener_flush(a:f.buf)
    endif
    let done = 1
  finally
    call flemma#fold#written(done)
    let a:f.own = 0
  endtry
  let a:f.last = typing ? 'person' : 'program'
endfunction

" Hears what the person did by now.
function! s:settle(f) abort
  if !has('nvim')
    call listener_flush(a:f.buf)
  endif
  call s:see_empty(a:f)
endfunction

" An editor shows one empty line where all lines are gone: it belongs to nobody's text, so it counts as the person's.
function! s:see_empty(f) abort
  let left = len(a:f.lines)
  for h in a:f.hunks
    let left += h.m - h.n
  endfor
  if left == 0
    let a:f.hunks = [{'s': 1, 'n': len(a:f.lines), 'b': 1, 'm': 1, 'conflict': 0}]
  endif
endfunction

function! s:join_undo(f) abort
  let window = bufwinid(a:f.buf)
  if a:f.last ==# 'program' && window > 0
    " Right behind an undo nothing can be joined, and nothing needs to be.
    call win_execute(window, 'silent! undojoin')
  endif
endfunction

" What the person types next is a step of its own.
function! s:break_undo(buf) abort
  call setbufvar(a:buf, '&undolevels', getbufvar(a:buf, '&undolevels'))
endfunction

" Replaces `removed` items of a list from `from` on, counted from 1.
function! flemma#follow#splice(list, from, removed, new) abort
  if a:removed > 0
    call remove(a:list, a:from - 1, a:from + a:removed - 2)
  endif
  call extend(a:list, a:new, a:from - 1)
endfunction

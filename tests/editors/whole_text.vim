" All of a text reaches the program and comes back, of whatever size, also where the program takes its time.

let g:flemma_program = ['/bin/sh', '-c', 'sleep 0.2; exec cat', 'program']
let s:faults = []

" Lines of so many bytes in all, with their ends.
function! s:lines(bytes) abort
  let line = repeat('größe ', 20)
  let each = strlen(line) + 1
  let lines = repeat([line], a:bytes / each - 1)
  return lines + [repeat('x', a:bytes - each * len(lines) - 1)]
endfunction

function! s:done(ended, out, code) abort
  let [a:ended.out, a:ended.code] = [a:out, a:code]
endfunction

try
  for s:bytes in [1, 4096, 65535, 65536, 65537, 2000000]
    let s:sent = s:bytes == 1 ? [''] : s:lines(s:bytes)
    let s:ended = {}
    call flemma#job#start([], s:sent, {'err': {line -> add(s:faults, line)}, 'done': function('s:done', [s:ended])})
    for s:try in range(600)
      if has_key(s:ended, 'code')
        break
      endif
      sleep 50m
    endfor
    if get(s:ended, 'code', -1) != 0 || s:ended.out !=# s:sent
      let s:got = strlen(join(get(s:ended, 'out', []), "\n")) + 1
      call add(s:faults, s:bytes . ' bytes: ' . s:got . ' came back, exit code ' . get(s:ended, 'code', 'none'))
    endif
  endfor
catch
  " An error would end the loop without a word.
  call add(s:faults, v:exception . ' at ' . v:throwpoint)
endtry
call writefile(s:faults, $FAULTS)
qall!

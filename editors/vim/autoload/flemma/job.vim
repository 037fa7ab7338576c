" Processes beside the editor, the same for Vim and Neovim.

" The words that start the program.
function! flemma#job#program() abort
  let program = get(g:, 'flemma_program', 'flemma')
  return type(program) == v:t_list ? copy(program) : [program]
endfunction

" Starts the program with these words, a text as its standard input. `on.err` gets each line of standard error as it comes,
" `on.done` the lines of standard output and the exit code once there is nothing more to come. Answers the job, or an
" empty dictionary after saying why there is none.
function! flemma#job#start(words, lines, on) abort
  let argv = flemma#job#program() + a:words
  if !executable(argv[0])
    call flemma#say(argv[0] . ' was not found on the path: set g:flemma_program', 'ErrorMsg')
    return {}
  endif
  let job = {'on': a:on, 'out': [''], 'err': '', 'code': 0, 'open': 2, 'held': []}
  if has('nvim')
    let job.id = jobstart(argv, {
          \ 'on_stdout': {_j, data, _e -> s:out(job, data)},
          \ 'on_stderr': {_j, data, _e -> s:hear(job, {-> s:err(job, join(data, "\n"))})},
          \ 'on_exit': {_j, code, _e -> s:hear(job, {-> s:over(job, code, 2)})}})
    " Neovim never waits while it writes.
    call chansend(job.id, join(a:lines, "\n") . "\n")
    call chanclose(job.id, 'stdin')
  else
    " A pipe is no use: with `noblock` Vim drops what it does not take at once, without it Vim stands still until it is read.
    let input = tempname()
    if writefile(a:lines, input, 'S') != 0
      call flemma#say('cannot write ' . input . ', so nothing was sent', 'ErrorMsg')
      call delete(input)
      return {}
    endif
    let job.id = job_start(argv, {
          \ 'in_io': 'file', 'in_name': input, 'out_mode': 'raw', 'err_mode': 'raw',
          \ 'out_cb': {_c, data -> s:out(job, split(data, "\n", 1))},
          \ 'err_cb': {_c, data -> s:hear(job, {-> s:err(job, data)})},
          \ 'close_cb': {_c -> s:hear(job, {-> s:over(job, job.code, 1)})},
          \ 'exit_cb': {_j, code -> s:hear(job, {-> s:over(job, code, 1)})}})
    " The job has it open.
    call delete(input)
  endif
  return job
endfunction

" Waits until a job has ended, so that keys typed meanwhile find what it did. Ctrl-C stops it instead.
function! flemma#job#wait(job) abort
  try
    " Neovim does not take a mapped Ctrl-C as an interrupt.
    while a:job.open > 0 && getchar(1) isnot 3
      sleep 10m
    endwhile
  catch /^Vim:Interrupt$/
  endtry
  if a:job.open > 0
    call flemma#job#interrupt(a:job)
  endif
endfunction

" Asks a job to end in order.
function! flemma#job#interrupt(job) abort
  if has('nvim')
    call luaeval('vim.loop.kill(_A, "sigint")', jobpid(a:job.id))
  elseif !has('unix')
    call job_stop(a:job.id, 'int')
  elseif job_status(a:job.id) ==# 'run'
    " Vim's own way signals the group and then the process: whoever is quick is asked twice by that, and ends at once.
    let a:job.asking = job_start(['/bin/sh', '-c', 'kill -s INT -- -' . job_info(a:job.id).process])
  endif
endfunction

" Takes in what a job says. While the editor asks the person something (whether to write over a file, say) a change of the
" screen would hide its question, so it is held until the answer.
function! s:hear(job, taking) abort
  if empty(a:job.held) && mode(1) !=# 'r?'
    " Without a detour: in a loop Ctrl-C, which stops a run, would stop this as well, and what it says of its end were lost.
    return a:taking()
  endif
  call add(a:job.held, a:taking)
  if len(a:job.held) == 1
    call timer_start(50, {_ -> s:take_in(a:job)})
  endif
endfunction

function! s:take_in(job) abort
  while !empty(a:job.held)
    if mode(1) ==# 'r?'
      call timer_start(50, {_ -> s:take_in(a:job)})
      return
    endif
    call call(remove(a:job.held, 0), [])
  endwhile
endfunction

function! s:out(job, data) abort
  let a:job.out[-1] .= a:data[0]
  call extend(a:job.out, a:data[1:])
endfunction

function! s:err(job, data) abort
  let lines = split(a:job.err . a:data, "\n", 1)
  let a:job.err = remove(lines, -1)
  for line in lines
    call a:job.on.err(line)
  endfor
endfunction

" One of the things that have to be over is: what it says comes before or after its end.
function! s:over(job, code, parts) abort
  let a:job.code = a:code
  let a:job.open -= a:parts
  if a:job.open > 0
    return
  endif
  if a:job.err !=# ''
    call s:err(a:job, "\n")
  endif
  if a:job.out[-1] ==# ''
    call remove(a:job.out, -1)
  endif
  call a:job.on.done(a:job.out, a:job.code)
endfunction

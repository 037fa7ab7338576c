" :Flemma, wherever a conversation may be.
if exists('g:loaded_flemma') || !exists('*setbufline') || !(has('nvim') || has('job'))
  finish
endif
let g:loaded_flemma = 1

command! -nargs=* -complete=custom,flemma#complete Flemma call flemma#command(<f-args>)

highlight default link FlemmaPreview Comment
highlight default link FlemmaWaiting WarningMsg

vim9script
# Fold levels of the lines of a conversation, for Vim. The rules are those of lua/flemma/fold.lua.

const ROLE = '^@\%(You\|Assistant\|System\):\s*$'

# The fold level of v:lnum: Vim asks for each line, and calls this in half the time that an expression takes.
export def Level(): any
  return b:flemma_tick == b:changedtick ? b:flemma_levels[v:lnum - 1] : flemma#fold#level(v:lnum)
enddef

# Returns the levels of lines: a string without `>` where the line is text in a fence.
export def Levels(lines: list<string>): list<any>
  var found: list<any> = []
  var answer = false
  var from = 0
  const last = len(lines) - 1
  while from <= last
    # Only these lines begin something; most lines are none of them. The old engine is faster for such patterns.
    const at = match(lines, '\%#=1^[@<`*]', from)
    const gap = (at < 0 ? last + 1 : at) - from
    if gap > 0
      found->extend(repeat([1], gap))
      # Text ends the place where an answer may begin.
      answer = answer && match(lines, '\S', from) >= at
    endif
    if at < 0
      break
    endif
    const line = lines[at]
    const first = line[0]
    var level: any = 1
    var inner: any = 1
    var end = ''
    var begins = false
    if first ==# '@'
      level = line =~# ROLE ? '>1' : 1
    elseif first ==# '*'
      begins = stridx(line, '**Tool Result:**') == 0
    elseif first ==# '`'
      if line =~# '^`\{3,}[^`]*$'
        end = matchstr(line, '^`\+') .. '`*\s*$'
        # What waits for the person stays in sight.
        const folded = answer && line !~# '^`\+flemma:'
        level = folded ? '>2' : 1
        inner = folded ? '2' : '1'
      endif
    elseif line =~# '^<thinking\>' && line !~# '/>\s*$'
      end = '</thinking>'
      level = '>2'
      inner = 2
    elseif line =~# '^<server_tool\s'
      end = '</server_tool>'
      level = '>2'
      inner = 2
    endif
    answer = begins
    found->add(level)
    from = at + 1
    if end !=# '' && at < last
      const close = match(lines, '\%#=1^' .. end, from)
      from = (close < 0 ? last : close) + 1
      found->extend(repeat([inner], from - at - 1))
    endif
  endwhile
  return found
enddef

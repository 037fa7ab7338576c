-- Fold levels of the lines of a conversation, for Neovim. The rules are those of autoload/flemma/vim9.vim.

local M = {}

--- Returns the levels of lines: a string without `>` where the line is text in a fence.
function M.levels(lines)
  local levels = {}
  local answer = false
  local line_end
  local inner
  for at, line in ipairs(lines) do
    local first = line:byte(1)
    local level = 1
    if line_end then
      level = inner
      if line:find(line_end) then
        line_end = nil
      end
    elseif first == 64 then -- @
      level = (line:find('^@You:%s*$') or line:find('^@Assistant:%s*$') or line:find('^@System:%s*$')) and '>1' or 1
      answer = false
    elseif first == 42 then -- *
      answer = line:sub(1, 16) == '**Tool Result:**'
    elseif first == 96 and line:find('^```+[^`]*$') then
      -- What waits for the person stays in sight.
      local folded = answer and not line:find('^`+flemma:')
      level, inner = folded and '>2' or 1, folded and '2' or '1'
      line_end = '^' .. line:match('^`+') .. '`*%s*$'
      answer = false
    elseif first == 60 and line:find('^<thinking%f[^%w_]') and not line:find('/>%s*$') then -- <
      level, inner, line_end, answer = '>2', 2, '^</thinking>', false
    elseif first == 60 and line:find('^<server_tool%s') then
      level, inner, line_end, answer = '>2', 2, '^</server_tool>', false
    elseif answer and line:find('%S') then
      -- Text ends the place where an answer may begin.
      answer = false
    end
    levels[at] = level
  end
  return levels
end

return M

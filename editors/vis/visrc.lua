-- The conversation: space m m sends it on, space m a approves the only call that waits, space m A all of them, space m r rejects the only one.
for key, command in pairs({ m = "advance", a = "approve", A = "approve --all", r = "reject" }) do
  vis:map(vis.modes.NORMAL, " m" .. key, ':,|flemma ' .. command .. ' --name "$vis_filepath"<Enter>')
end

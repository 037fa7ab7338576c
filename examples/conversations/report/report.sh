#!/bin/sh
# Counts the lines of every text, the newest run first.
echo "made at $(date +%H:%M:%S)"
for file in *.txt; do echo "$file: $(grep -c '' "$file")"; done

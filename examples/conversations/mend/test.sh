#!/bin/sh
# The test of greet.sh.
said=$(sh greet.sh World)
[ "$said" = "Hello, World!" ] && echo "1 passed" || { echo "1 failed: $said"; exit 1; }

#!/bin/sh
# The sum of the second column of a list of prices.
awk '{ sum += $2 } END { print sum }' "$1"

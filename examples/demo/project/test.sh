#!/bin/sh
# The prices add up to 42.
got=$(sh total.sh prices.txt)
if [ "$got" = 42 ]; then
  echo "ok: the total is $got"
else
  echo "FAILED: the total is $got, not 42"
  exit 1
fi

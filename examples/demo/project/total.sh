#!/bin/sh
# Prints the sum of the numbers in a file, one a line.
sum=0
while read -r price; do
  sum=$((sum + price))
done < "$1"
echo "$sum"

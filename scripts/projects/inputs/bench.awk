# SPDX-License-Identifier: MIT
# Count words, rewrite lines, and do sums: what awk is used for.
{
    lines++
    letters += length($0)
    for (i = 1; i <= NF; i++) count[$i]++
}
/^[ \t]*(static|extern|int|void)[ \t]/ { declared++ }
/[0-9]+\.[0-9]+/ { numbers++ }
{
    line = $0
    changed += gsub(/[aeiou]+/, "<&>", line)
    sum = (sum * 31 + length(line)) % 1000003
    if (match($0, /[A-Z_][A-Z_0-9]+\(/)) macros[substr($0, RSTART, RLENGTH - 1)]++
}
END {
    for (word in count) if (count[word] > most || (count[word] == most && word < best)) {
        most = count[word]; best = word
    }
    for (word in macros) different++
    for (i = 1; i <= 300000; i++) wave += sin(i) * i % 7
    printf "%d %d %d %d %d %d %s %d %d %.6f\n", lines, letters, declared, numbers, changed, sum,
        best, most, different, wave
}

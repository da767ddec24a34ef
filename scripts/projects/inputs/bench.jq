# SPDX-License-Identifier: MIT
# Group, filter, rewrite and sum records.
def share(f): (map(f) | add) as $all | map(.share = (1000 * f / $all | floor));

(group_by(.kind)
 | map({kind: .[0].kind, files: length, lines: (map(.lines) | add),
        longest: (max_by(.longest) | .path)})
 | share(.lines)
 | sort_by(-.lines))[0:20],
([.[] | select(.lines > 100) | .path | split("/") | .[0:-1] | join("/")] | unique | length),
(map(.words | to_entries | map(.value) | add) | add),
(reduce .[] as $file ({}; .[$file.path[0:2]] += $file.lines) | to_entries | sort_by(.key) | .[0:9]),
([.[] | .path | ascii_upcase | ltrimstr("A") | length] | add),
([limit(50; .[] | tojson | fromjson | [paths] | length)] | add)

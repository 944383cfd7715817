#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Completion of devx for bash, from the tables of commands and layouts and from devx's own usage text:
   completion.py devx.c layouts.tbl opcodes.tbl enums.tbl OUTPUT"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.abspath(sys.argv[2])))

import gen  # noqa: E402

CODE = r'''
# The words up to the cursor, split at blanks alone: bash splits at = and : too, and would lose them.
_devx() {
	local line=${COMP_LINE:0:COMP_POINT} words cur sub i step=0 opcode= type=
	read -ra words <<<"$line"
	cur=
	[[ $line == *[[:space:]] ]] || { cur=${words[-1]}; unset 'words[-1]'; }
	COMPREPLY=()
	sub=${words[1]-}
	if [ -z "$sub" ]; then
		COMPREPLY=($(compgen -W "${!_devx_options[*]} help --help --version" -- "$cur"))
		return
	fi
	case ${words[-1]} in
	--device) COMPREPLY=($(compgen -W "mlx5_soft0 $(ls /sys/class/infiniband 2>/dev/null)" -- "$cur")); return ;;
	--diff) COMPREPLY=($(compgen -W "cx5 cx6dx cx7 bf3" -- "$cur")); return ;;
	--opcode) COMPREPLY=($(compgen -W "${!_devx_in[*]}" -- "${cur^^}")); return ;;
	--accel) COMPREPLY=($(compgen -W "tcg kvm auto" -- "$cur")); return ;;
	--with) COMPREPLY=($(compgen -W "rdma-core" -- "$cur")); return ;;
	--syndromes | --control | --socket | --root | --share | --kernel | --dir | --log | --qemu | --server | --connect) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--layout) COMPREPLY=($(compgen -W "${!_devx_fields[*]}" -- "$cur")); return ;;
	--op-mod | --outlen | --in-flight | --top | --spec | --count | --fault | --devices | --memory | --cpus | --boot-timeout) return ;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "${_devx_options[$sub]-}" -- "$cur"))
		return
	fi
	if [ "$sub" != cmd ]; then
		[ "$sub" = vm ] && COMPREPLY=($(compgen -c -f -- "$cur"))
		[ "$sub" = decode ] || [ "$sub" = counters ] && COMPREPLY=($(compgen -f -- "$cur"))
		return
	fi
	# The step that the cursor is in: from the last colon on.
	for ((i = 2; i < ${#words[@]}; i++)); do
		case ${words[i]} in
		:) opcode= type= step=$((i + 1)) ;;
		--device | --outlen | --syndromes) ((i++)) ;;
		-*) ;;
		obj_type=*) type=${words[i]#*=} ;;
		*) [ -n "$opcode" ] || opcode=${words[i]^^} ;;
		esac
	done
	if [ -z "$opcode" ]; then
		COMPREPLY=($(compgen -W "${!_devx_in[*]} UMEM UAR EQN" -- "${cur^^}"))
	else
		_devx_field "$opcode" "${type^^}" "$cur"
	fi
}

# A path as far as it goes: through nested layouts, then a field's name, then its values.
_devx_field() {
	local layout=${_devx_in[$1]-} object=${2:+${_devx_object[$2]-}} cur=$3 path= word entry name next values found
	case $1 in
	UMEM) COMPREPLY=($(compgen -W "size= access=" -- "$cur")); compopt -o nospace 2>/dev/null; return ;;
	UAR) COMPREPLY=($(compgen -W "flags=" -- "$cur")); compopt -o nospace 2>/dev/null; return ;;
	EQN) COMPREPLY=($(compgen -W "vector=" -- "$cur")); compopt -o nospace 2>/dev/null; return ;;
	esac
	word=$cur
	if [ -n "$object" ] && [[ $word == obj.* ]]; then
		layout=$object path=obj. word=${word#obj.}
	fi
	while [ -n "$layout" ]; do
		found= next= values=
		for entry in ${_devx_fields[$layout]-}; do
			name=${entry%%[=/]*}
			name=${name%\[}
			if [[ $word == "$name"[.[=]* && ${#name} -gt ${#found} ]]; then
				found=$name next= values=
				[[ $entry == */* ]] && next=${entry#*/}
				[[ $entry == *=* ]] && values=${entry#*=}
			fi
		done
		[ -n "$found" ] || break
		if [[ ${word#"$found"} =~ ^(\[[0-9]+\])?= ]]; then
			COMPREPLY=($(compgen -W "${_devx_values[$values]-}" -- "${word#*=}"))
			return
		fi
		[[ -n $next && ${word#"$found"} =~ ^(\[[0-9]+\])?\. ]] || return
		path+=$found${BASH_REMATCH[0]} word=${word#"$found${BASH_REMATCH[0]}"} layout=$next
	done
	[ -n "$layout" ] || return
	for entry in ${_devx_fields[$layout]-}; do
		name=${entry%%[=/]*}
		case $entry in
		*\[*) ;;
		*/*) name+=. ;;
		*) name+== ;;
		esac
		[[ $name == "$word"* ]] && COMPREPLY+=("$path$name")
	done
	[ -n "$object" ] && [ -z "$path" ] && [[ obj. == "$word"* ]] && COMPREPLY+=(obj.)
	compopt -o nospace 2>/dev/null
}

complete -F _devx devx
'''


def usage(path):
    """subcommand -> its options, out of the usage lines of the help text"""
    with open(path, encoding="ascii") as f:
        text = f.read()
    lines = re.findall(r'^\t"(.*)\\n"', text[text.index("help[] ="):], re.M)
    lines = lines[:lines.index("")]
    found, name = {}, None
    for line in lines:
        start = re.match(r"(?:usage:|      ) devx ([a-z]+)( |$)", line)
        if start:
            name = start.group(1)
        found.setdefault(name, []).extend(re.findall(r"--[a-z-]+", line))
    found.pop("help")
    return found


def array(name, rows):
    return [f"declare -A {name}=("] + [f"\t[{key}]='{value}'" for key, value in rows] + [")"]


def main():
    layouts, opcodes, enums = gen.read_all(*sys.argv[2:5])
    named = gen.field_enums(layouts, enums)
    objects = {}
    for value, name, _, layout in enums["general_object_type"][2]:
        if layout:
            objects[name] = objects[f"0X{value:X}"] = objects[str(value)] = layout
    wanted, queue = set(), [row[5] for row in opcodes if row[5]] + list(layouts)
    while queue:
        layout = queue.pop()
        if layout not in wanted:
            wanted.add(layout)
            queue += [f[4] for f in layouts[layout][1] if f[4]]
    fields = {}
    for layout in sorted(wanted):
        words = []
        for field, bit, width, count, nested in layouts[layout][1]:
            word = field + ("[" if count != 1 and width != 8 else "")
            if (layout, field) == ("flow_context", "destination"):
                word += "/dest_format"  # the usual form (src/prm/walk.c)
            elif nested:
                word += "/" + nested
            elif (layout, field) in named and (field, bit) != ("opcode", 0):
                word += "=" + named[layout, field]
            if (field, bit) != ("opcode", 0):
                words.append(word)
        fields[layout] = " ".join(words)
    used = {named[key] for key in named if key[0] in wanted and key[1] != "opcode"}
    out = ["# bash completion for devx(1), made by completion.py.", ""]
    out += array("_devx_options", ((k, " ".join(v)) for k, v in usage(sys.argv[1]).items()))
    out += array("_devx_in", ((row[1], row[5]) for row in opcodes if row[5]))
    out += array("_devx_object", objects.items())
    out += array("_devx_fields", fields.items())
    out += array("_devx_values", ((name, " ".join(row[1] for row in enums[name][2])) for name in sorted(used)))
    with open(sys.argv[5], "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n" + CODE)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds the texts against the tree: check.py SOURCE_DIR [--update]

Each page of section 3 carries one file of examples/, word for word, and so does README.md; every file of examples/ is
carried by something. Every call that soft.h and opendevx.h declare, every DEVX call that the library exports, and every
other one that it does not merely pass on, has a page. With --update the pages and README.md get the files' present text.
"""
import pathlib
import re
import sys

PAGE_CODE = re.compile(r'(\.Pa examples/(\w+)\.c ;\n.*?\.Bd -literal\n)(.*?)(\n\.Ed\n)', re.S)
README_CODE = re.compile(r'(<!-- examples/(\w+)\.c -->\n```c\n)(.*?)(\n```\n)', re.S)


def program(root, name):
    """The example without its license line."""
    return (root / 'examples' / (name + '.c')).read_text().split('\n', 1)[1].rstrip('\n')


def as_mdoc(text):
    lines = text.replace('\\', '\\e').split('\n')
    return '\n'.join('\\&' + line if line[:1] in ('.', "'") else line for line in lines)


def main():
    root = pathlib.Path(sys.argv[1])
    update = '--update' in sys.argv
    pages = sorted((root / 'man').glob('*.3'))
    wrong, carried = [], set()
    for path, pattern, form in [(p, PAGE_CODE, as_mdoc) for p in pages] + [(root / 'README.md', README_CODE, str)]:
        text = path.read_text()
        found = pattern.findall(text)
        if len(found) != 1:
            wrong.append(f'{path.name}: carries {len(found)} examples instead of one')
        for _, name, code, _ in found:
            carried.add(name)
            if code != form(program(root, name)):
                wrong.append(f'{path.name}: its text is not that of examples/{name}.c')
        if update:
            path.write_text(pattern.sub(lambda m: m[1] + form(program(root, m[2])) + m[4], text))
    for path in sorted((root / 'examples').glob('*.c')):
        if path.stem not in carried:
            wrong.append(f'examples/{path.name}: carried by no page')
        if len(path.read_text().splitlines()) > 41:
            wrong.append(f'examples/{path.name}: longer than 40 lines')
    calls = set()
    for source in ['include/opendevx/opendevx.h', 'include/opendevx/soft.h']:
        text = re.sub(r'/\*.*?\*/|^#.*?$', '', (root / source).read_text(), flags=re.S | re.M)
        calls |= set(re.findall(r'\b((?:odx|mlx5dv)_\w+)\(', text))
    for source in sorted((root / 'src/api').glob('*.c')):
        if source.name != 'pass.c':
            calls |= set(re.findall(r'^(?:ODX_EXPORT.*?|VERBS_OBJ\()(\b\w+)[(,]', source.read_text(), re.M))
    calls |= {'mlx5dv_init_obj'} # in pass.c, beside what it passes on
    exported = set(re.findall(r'\b(mlx5dv_devx_\w+);', (root / 'src/api/opendevx.map').read_text()))
    passed = set(re.findall(r'\b(mlx5dv_devx_\w+),', (root / 'src/api/pass_mlx5.tbl').read_text()))
    wrong += [f'{c}: exported, and neither implemented nor passed on' for c in sorted(exported - calls - passed)]
    # An inline of rdma-core's header in the place of what it calls; an inline that calls the context's own function.
    calls = {c for c in calls if not c.startswith('_')} | {'mlx5dv_get_export_sizes', 'ibv_query_device_ex'}
    for also, name in [('ibv_reg_mr_iova', 'ibv_reg_mr'), ('ibv_reg_mr_iova2', 'ibv_reg_mr')]:
        if f'.Fn {also}' in (root / 'man' / (name + '.3')).read_text():
            calls -= {also}
    have = {p.stem for p in pages}
    wrong += [f'{c}: no page' for c in sorted(calls - have)]
    wrong += [f'{p}.3: no such call' for p in sorted(have - calls)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong and not update else 0


sys.exit(main())

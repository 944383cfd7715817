# SPDX-License-Identifier: BSD-2-Clause
"""
The exported names: what the version script says, what the headers declare, what the library has, and what rdma-core has:
release 65 by the lists in tests/data, and the installed one. Every mlx5dv_devx_ name is implemented, not only passed on.
The model and the PCI function import nothing that would let them wait, read a file or ask the time.

symbols.py library libhca.a libpci.a opendevx.map source-dir compiler
"""
import os
import re
import subprocess
import sys

# What rdma-core exports and we leave to it (src/api/pass.c says why).
LEFT = re.compile(r'''
    ibv_(register_driver|copy_(ah_attr|path_rec|qp_attr)_\w+|import_device|fork_init|is_fork_initialized|
         do(fork|ntfork)_range|dontfork_range|get_sysfs_path|read_sysfs_file|rate_to_\w+|\w+_str) |
    ibv_(dealloc_dmah|free_buf|export_buf_dmabuf_fd|(destroy|(set|inc|read)(_err)?)_comp_cntr) |
    m\w+_to_ibv_rate |
    _mlx5dv_mkey_check |
    mlx5dv_(destroy_mkey|destroy_flow_matcher|destroy_steering_anchor|dek_(query|destroy)|crypto_login_(query|destroy)|
            free_var|var_(export|unimport)|pp_free|sched_(node|leaf)_(modify|destroy)|qp_cancel_posted_send_wrs|get_vfio_device_list|
            dump_dr_\w+|dr_(domain|matcher|rule|table)_\w+|
            dr_action_(destroy|modify_\w+|create_(default_miss|dest_(array|ib_port|root_table|table|vport)|drop|
                       flow_(meter|sampler)|modify_header|packet_reformat|p\w+_vlan|tag)))
    ''', re.X)

# All that the model may use of the outside: memory, its bytes, text into a buffer, and what a compiler adds by itself.
HCA_MAY = re.compile(r'''
    malloc|calloc|aligned_alloc|realloc|free|mem(cpy|set|move|cmp|chr)|bcmp|str(n?len|n?cmp|chr)|v?snprintf|__(mem\w+|v?snprintf)_chk|qsort|bsearch|
    abort|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|
    __(asan|ubsan|tsan|sanitizer|gcov|llvm|sancov)_\w+|__popcountdi2|prm_\w+
    ''', re.X)

# The function may use the model and the parser of rules besides, and compilers divide 128 bits by a call.
PCI_MAY = re.compile(HCA_MAY.pattern + r'|hca_\w+|spec_rule_parse_to|__u?divti3|strn?cmp|str(c?spn)', re.X)

errors = []


def error(text):
    errors.append(text)


def run(*cmd):
    return subprocess.run(cmd, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def exports(path):
    """name -> its default version ('' when it has none)"""
    found = {}
    for line in run('nm', '-D', '--defined-only', path).splitlines():
        kind, name = line.split()[-2:]
        if kind == 'A':
            continue
        name, at, version = name.partition('@@')
        if at or '@' not in name:
            found[name] = version
    return found


def script(path):
    found, node = {}, None
    for line in open(path):
        word = line.strip()
        if word.endswith('{'):
            node = word.split()[0]
        elif re.fullmatch(r'\w+;', word):
            if word[:-1] in found:
                error(f'{word[:-1]} is twice in the version script')
            found[word[:-1]] = node
    return found


def listed(path):
    """name -> version node, of a list in tests/data"""
    return dict(line.split() for line in open(path) if not line.startswith('#'))


def inside(what, archive, may, proof):
    nm = run('nm', archive)
    defined = set(re.findall(r' [A-TV-Za-tv-z] (\w+)$', nm, re.M))
    for name in sorted(set(re.findall(r' U (\w+)$', nm, re.M)) - defined):
        if not may.fullmatch(name):
            error(f'{what} uses {name}')
    if proof not in defined:
        error(f'{archive} has no {proof}: this is not the library')


def main():
    lib, hca, pci, version_script, root, cc = sys.argv[1:7]
    include = os.path.join(root, 'include')
    wanted = script(version_script)
    have = exports(lib)
    for name in sorted(set(wanted) | set(have)):
        if wanted.get(name) != have.get(name):
            error(f'{name}: {wanted.get(name)} in the version script, {have.get(name)} in the library')

    # Every odx_ name that a header declares, and no other.
    declared = set()
    for header in os.listdir(os.path.join(include, 'opendevx')):
        if not header.endswith('.h'):
            continue
        text = open(os.path.join(include, 'opendevx', header)).read()
        text = re.sub(r'/\*.*?\*/|^#.*?$', '', text, flags=re.S | re.M)
        declared |= set(re.findall(r'\b(odx_\w+)\s*\([^;{}]*\)\s*;', text))
    ours = {n for n, v in wanted.items() if v.startswith('OPENDEVX_')}
    if declared != ours:
        error(f'headers and version script differ: {sorted(declared ^ ours)}')
    if any(not n.startswith('odx_') for n in ours):
        error('a name of ours without odx_')

    # rdma-core's names have its versions; a name that it has and we do not pass on is one that we know of.
    for soname, data, prefix in (('libibverbs.so.1', 'libibverbs-65.txt', 'IBVERBS_'), ('libmlx5.so.1', 'libmlx5-65.txt', 'MLX5_')):
        path = run(cc, '-print-file-name=' + soname).strip()
        installed, theirs = exports(path), listed(os.path.join(root, 'tests/data', data))
        if len(installed) < 50 or len(theirs) < 90:
            error(f'{path} or {data}: too few names to be the right file')
        for name, version in installed.items():
            if '_PRIVATE_' not in version and theirs.get(name) != version:
                error(f'{name}: {version} in {soname}, {theirs.get(name)} in {data}')
        for name, version in wanted.items():
            if version.startswith(prefix) and theirs.get(name) != version:
                error(f'{name}: {version} here, {theirs.get(name)} in {data}')
        for name, version in theirs.items():
            if name not in wanted and not LEFT.fullmatch(name):
                error(f'{name}: in {data}, neither passed on nor known to be left out')

    # The DEVX calls are ours, whole, and each that an older header may lack is declared by opendevx.h.
    theirs = {n: v for n, v in listed(os.path.join(root, 'tests/data/libmlx5-65.txt')).items() if n.startswith('mlx5dv_devx_')}
    table = open(os.path.join(root, 'src/api/pass_mlx5.tbl')).read()
    passed = set(re.findall(r'[ *](mlx5dv_devx_\w+),$', table, re.M))
    if len(theirs) != 41 or passed:
        error(f'{len(theirs)} DEVX calls; only passed on: {sorted(passed)}')
    header = open(os.path.join(include, 'opendevx/opendevx.h')).read()
    for name, version in theirs.items():
        if int(version.split('.')[1]) >= 26 and not re.search(r'\b' + name + r'\(', header):
            error(f'{name}: not in opendevx.h')

    dynamic = run('readelf', '-dW', lib)
    if re.search(r'NEEDED.*(ibverbs|mlx5)', dynamic):
        error('the library links to rdma-core')
    if 'NODELETE' not in dynamic:
        error('the library can be unloaded')
    if '[libopendevx.so.0]' not in dynamic:
        error('the soname is not libopendevx.so.0')

    inside('the model', hca, HCA_MAY, 'hca_submit')
    inside('the PCI function', pci, PCI_MAY, 'pci_write')

    for text in errors:
        print(text, file=sys.stderr)
    return bool(errors)


sys.exit(main())

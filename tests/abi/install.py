# SPDX-License-Identifier: BSD-2-Clause
"""
Installs into an empty directory and builds a program on what is there, as a user does: with pkg-config, against the shared
library and then, with the shared one taken away, against the static one.

install.py build-dir program.c pkg-config compiler...
"""
import glob
import os
import subprocess
import sys
import tempfile


def run(*cmd, **more):
    return subprocess.run(cmd, check=True, stdout=subprocess.PIPE, universal_newlines=True, **more).stdout


def main():
    build, source, pkg_config = sys.argv[1:4]
    cc = sys.argv[4:]
    with tempfile.TemporaryDirectory() as dest:
        run('meson', 'install', '-C', build, '--no-rebuild', '--destdir', dest)
        pcs = glob.glob(dest + '/**/opendevx.pc', recursive=True)
        assert len(pcs) == 1, pcs
        env = dict(os.environ, PKG_CONFIG_LIBDIR=os.path.dirname(pcs[0]), PKG_CONFIG_SYSROOT_DIR=dest, OPENDEVX_SOFT='on')
        libdir = os.path.dirname(os.path.dirname(pcs[0]))
        for header in ('opendevx.h', 'soft.h'):
            assert glob.glob(dest + '/**/include/opendevx/' + header, recursive=True), header
        for part in ('/bin/devx', '/share/opendevx/opendevx.syndromes', '/share/bash-completion/completions/devx'):
            assert glob.glob(dest + '/**' + part, recursive=True), part
        version = run(pkg_config, '--modversion', 'opendevx', env=env).strip()

        def build_and_run(name, *static):
            exe = os.path.join(dest, name)
            flags = run(pkg_config, '--cflags', '--libs', *static, 'opendevx', env=env).split()
            run(*cc, '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-o', exe, source, *flags)
            out = run(exe, env=dict(env, LD_LIBRARY_PATH=libdir)).strip()
            assert out == version, (out, version)
            return run('readelf', '-dW', exe)

        assert '[libopendevx.so.0]' in build_and_run('shared')
        for so in glob.glob(libdir + '/libopendevx.so*'):
            os.remove(so)
        needed = build_and_run('static', '--static')
        assert 'opendevx' not in needed and 'ibverbs' not in needed and 'mlx5' not in needed, needed


main()

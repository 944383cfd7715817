# SPDX-License-Identifier: BSD-2-Clause
"""The version script of a fake rdma-core library: the nodes of ours whose names begin with a prefix, and its control."""
import re
import sys

source, prefix, out = sys.argv[1:]
nodes = re.finditer(r'^(\w+?)_[\d.]+ \{.*?^\}[^;]*;\n', open(source).read(), re.M | re.S)
text = ''.join(m.group(0) for m in nodes if m.group(1) == prefix)
assert text, prefix
open(out, 'w').write(text + 'FAKE {\n\tglobal:\n\t\tfake_*;\n\tlocal:\n\t\t*;\n};\n')

# Where libmongocrypt and pymongocrypt are; sourced, not run, in this folder.

has_libmongocrypt() { # Debian's, for programs in C; says so where it is missing
    pkg-config --exists libmongocrypt 2>/dev/null && return
    echo "skipped: libmongocrypt for C is not installed (apt-get install libmongocrypt-dev)"
    return 1
}

has_pymongocrypt() { # of the system, or as `tools/setup servers` installs it; says so where it is missing
    PYTHONPATH=$PWD/python:$(readlink -m ../../target/python)${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONPATH
    python3 -c 'import bson, pymongocrypt.binding' 2>/dev/null && return
    echo "skipped: pymongocrypt is not installed (python3 -m pip install --target target/python pymongocrypt pymongo)"
    return 1
}

# What tests of servers share; sourced, not run. Loopback only.

LANELOCK=${LANELOCK:-target/release/lanelock}
PROVIDER=${PROVIDER:-target/release/lanelock.so}
work=$(mktemp -d)
server= # pids that end with the test
origin= # one more
clients= # and the load

fail() { # with the last that the server had to say
    echo "FAIL: $*" >&2
    tail -n 5 "$work/log" "$work/error.log" >&2 2>/dev/null || true
    exit 1
}

cleanup() {
    for pid in $server $origin $clients; do
        if kill -TERM "$pid" 2>/dev/null; then
            wait_for_end "$pid" 3 || kill -KILL "$pid" 2>/dev/null || true
        fi
    done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

need() { # need PROGRAM PACKAGE: ends the test, with its reason, where the program is missing
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || {
        echo "skipped: $1 is not installed (apt-get install $2)"
        exit 0
    }
}

# A free port that nobody else takes before the server does: each test has five hundred of its own, between
# those that Ray gives to its workers and those that the kernel gives to whoever asks for any.
free_port() {
    python3 - "$work/port" "$(dirname "$0")" <<'END'
import os, socket, sys

last, test = sys.argv[1:]
tests = sorted(entry.name for entry in os.scandir("integrations") if entry.is_dir())
first = 20000 + 500 * tests.index(os.path.basename(test))
port = int(open(last).read()) + 1 if os.path.exists(last) else first
while port < first + 500:
    with socket.socket() as candidate:
        try:
            candidate.bind(("127.0.0.1", port))
            break
        except OSError:
            port += 1
else:
    sys.exit(f"all ports from {first} to {port - 1} are taken")
open(last, "w").write(str(port))
print(port)
END
}

make_key() { # make_key KIND FILE
    case $1 in
    rsa-*) openssl genpkey -quiet -algorithm RSA -pkeyopt "rsa_keygen_bits:${1#rsa-}" -out "$2" 2>/dev/null ||
        openssl genrsa -out "$2" "${1#rsa-}" 2>/dev/null ;;
    p256) openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$2" ;;
    ed25519) openssl genpkey -algorithm ed25519 -out "$2" ;;
    *) fail "no kind of key $1" ;;
    esac
}

make_certificates() { # make_certificates KIND FOLDER: server.pem, cert.pem, key.pem, clients.pem, {client,stranger}.{pem,key}
    mkdir -p "$2"
    make_key "$1" "$2/key.pem"
    openssl req -x509 -key "$2/key.pem" -days 1 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -out "$2/cert.pem"
    cat "$2/cert.pem" "$2/key.pem" >"$2/server.pem"
    # The same name, and only one of them is let in.
    for client in client stranger; do
        make_key p256 "$2/$client.key"
        openssl req -x509 -key "$2/$client.key" -days 1 -subj /CN=client -out "$2/$client.pem"
    done
    cp "$2/client.pem" "$2/clients.pem"
}

make_status() { # make_status FOLDER: status.der, in which the certificate is good
    serial=$(openssl x509 -in "$1/cert.pem" -noout -serial | cut -d= -f2)
    printf 'V\t%s\t\t%s\tunknown\t/CN=localhost\n' "$(date -u -d tomorrow +%y%m%d%H%M%SZ)" "$serial" >"$1/index"
    # The certificate is its own issuer.
    openssl ocsp -issuer "$1/cert.pem" -cert "$1/cert.pem" -reqout "$1/request.der" >/dev/null 2>&1
    openssl ocsp -index "$1/index" -CA "$1/cert.pem" -rsigner "$1/cert.pem" -rkey "$1/key.pem" -ndays 1 \
        -reqin "$1/request.der" -respout "$1/status.der" >/dev/null 2>&1
}

check_stapling() { # check_stapling PORT
    timeout 10 openssl s_client -status -connect "127.0.0.1:$1" </dev/null >"$work/said" 2>&1 || true
    grep -q 'Cert Status: good' "$work/said" || fail "no status of the certificate: $(tail -n 5 "$work/said")"
}

wait_for_port() { # wait_for_port PORT
    tries=0
    until python3 -c "import socket; socket.create_connection(('127.0.0.1', $1), 1).close()" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || fail "nothing listens on port $1: $(cat "$work"/log 2>/dev/null)"
        sleep 0.1
    done
}

start_origin() { # the page that is behind every server
    origin_port=$(free_port)
    mkdir "$work/www"
    echo lanelock >"$work/www/index.html"
    (cd "$work/www" && exec python3 -m http.server --bind 127.0.0.1 "$origin_port" >/dev/null 2>&1) &
    origin=$!
    wait_for_port "$origin_port"
}

wait_for_end() { # wait_for_end PID SECONDS
    tries=0
    while kill -0 "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt $(($2 * 10)) ] || return 1
        sleep 0.1
    done
}

get() { # get VERSION PORT FOLDER [CURL OPTIONS]: the page, over this version of TLS
    version=$1 port=$2 folder=$3
    shift 3
    curl --silent --show-error --max-time 10 --cacert "$folder/cert.pem" \
        "--tlsv$version" --tls-max "$version" "$@" "https://localhost:$port/"
}

check_page() { # check_page VERSION PORT FOLDER
    [ "$(get "$1" "$2" "$3")" = lanelock ] || fail "TLS $1: not the page that was expected"
}

check_resumption() { # check_resumption VERSION PORT [OPTION]: a second connection resumes the first one's session
    option="-tls$(echo "$1" | tr . _) ${3-}"
    # The ticket of TLS 1.3 comes with the answer.
    # shellcheck disable=SC2086
    printf 'GET / HTTP/1.0\r\nHost: localhost\r\n\r\n' |
        timeout 10 openssl s_client -ign_eof $option -connect "127.0.0.1:$2" -sess_out "$work/session" >/dev/null 2>&1 || true
    # shellcheck disable=SC2086
    printf 'GET / HTTP/1.0\r\nHost: localhost\r\n\r\n' |
        timeout 10 openssl s_client -ign_eof $option -connect "127.0.0.1:$2" -sess_in "$work/session" >"$work/resumed" 2>&1 || true
    grep -q '^Reused' "$work/resumed" || fail "TLS $1: the session was not resumed"
}

check_client_certificate() { # check_client_certificate VERSION PORT FOLDER
    page=$(get "$1" "$2" "$3" --cert "$3/client.pem" --key "$3/client.key") ||
        fail "TLS $1: a client with its certificate is refused"
    [ "$page" = lanelock ] || fail "TLS $1: not the page that was expected"
    if get "$1" "$2" "$3" --fail >/dev/null 2>&1; then
        fail "TLS $1: a client without a certificate is let in"
    fi
    if get "$1" "$2" "$3" --fail --cert "$3/stranger.pem" --key "$3/stranger.key" >/dev/null 2>&1; then
        fail "TLS $1: a client with another certificate is let in"
    fi
}

# systemd reads the unit with the drop-in and has nothing to say about it; the command is not where a
# distribution would have it.
check_unit() { # check_unit UNIT DROP-IN
    unit=/lib/systemd/system/$1
    if ! command -v systemd-analyze >/dev/null 2>&1 || ! [ -f "$unit" ]; then
        echo "skipped: the unit $1: systemd-analyze or $unit is not installed"
        return
    fi
    mkdir -p "$work/units/$1.d"
    cp "$unit" "$work/units/"
    for command in /nowhere/lanelock "$LANELOCK"; do
        sed "s|/usr/local/bin/lanelock|$command|" "$2" >"$work/units/$1.d/lanelock.conf"
        systemd-analyze verify --man=no "$work/units/$1" >"$work/verify" 2>&1 || true
        case $command in
        # What is not there is missed: so the drop-in is read.
        /nowhere/*) grep -q "$command is not executable" "$work/verify" || fail "$2 is not read" ;;
        *) [ ! -s "$work/verify" ] || fail "$2: $(cat "$work/verify")" ;;
        esac
    done
}

unit_command() { # unit_command DROP-IN: what it starts, with this lanelock
    sed -n "s|^ExecStart=/usr/local/bin/lanelock|$LANELOCK|p" "$1"
}

descriptors() { # descriptors PID
    # shellcheck disable=SC2012
    ls "/proc/$1/fd" | wc -l
}

resident() { # resident PID: KiB
    awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

soak() { # soak PORT FOLDER COUNT SHARE [OPTIONS]: so many handshakes, a share of them abandoned
    # shellcheck disable=SC2086
    "$LANELOCK" perf tls --connect "127.0.0.1:$1" --certificate "$2/cert.pem" \
        --connections 100 --handshakes "$3" --abort "$4" ${5-}
}

connections() { # connections PORT: those that the server there has, or that wait for it to accept them
    # Local address, and the state: established, or closed by the client alone.
    awk -v port="$(printf ':%04X' "$1")" \
        'index($2, port) && ($4 == "01" || $4 == "08") { count++ } END { print count + 0 }' /proc/net/tcp
}

wait_for_clients() { # wait_for_clients PORT: until a number of $clients' connections are there
    tries=0
    until [ "$(connections "$1")" -ge 10 ]; do
        kill -0 "$clients" 2>/dev/null || fail "all clients had gone: $(cat "$work/load")"
        tries=$((tries + 1))
        [ "$tries" -lt 500 ] || fail "no clients on port $1 within 10 s: $(cat "$work/load")"
        sleep 0.02
    done
}

wait_for_rest() { # wait_for_rest PORT: until the server has closed its last connection
    tries=0
    until [ "$(connections "$1")" -eq 0 ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 150 ] || fail "$(connections "$1") connections 15 s after the last client has gone"
        sleep 0.1
    done
}

begin_load() { # begin_load PORT FOLDER: clients that shake hands until end_load
    # No function, whose process would be another.
    "$LANELOCK" perf tls --connect "127.0.0.1:$1" --certificate "$2/cert.pem" --connections 100 \
        --handshakes 1000000 >"$work/load" 2>&1 &
    clients=$!
    wait_for_clients "$1"
}

end_load() { # begins no more, and fails if one has failed
    kill -TERM "$clients" 2>/dev/null || true
    code=0
    wait "$clients" 2>/dev/null || code=$?
    clients=
    return "$code"
}

# A stop under load ends. The clients' connections are refused by then: that is what it means to them.
check_stop() { # check_stop SIGNAL PORT FOLDER
    begin_load "$2" "$3"
    kill -s "$1" "$server"
    wait_for_end "$server" 30 || fail "the server still runs 30 s after $1 under load"
    server=
    end_load || true
}

# No handshake fails while the command runs amid them, nor in the second after it.
amid_load() { # amid_load PORT FOLDER COMMAND...
    begin_load "$1" "$2"
    shift 2
    "$@" || fail "$*"
    sleep 1
    end_load || fail "beside $*: $(cat "$work/load")"
}

# A third of the clients leaves in the middle, some of the others are slow, in TLS 1.2 and 1.3: no
# handshake fails but theirs, descriptors return to where they were before the first of them came, and
# resident memory stops growing.
check_abandoned() { # check_abandoned PID PORT FOLDER COUNT
    # Engines and threads open some of their own.
    soak "$2" "$3" "$4" 0 >/dev/null || fail "handshakes failed"
    wait_for_rest "$2"
    before=$(descriptors "$1") waves=0 memory=0 grown=
    # What allocators may keep for the next time, and less than half the fibre stacks of 32 KiB, were
    # they lost with their connections.
    allowed=$((4096 + $4))
    until [ -n "$grown" ] && [ "$grown" -lt "$allowed" ]; do
        waves=$((waves + 1))
        [ "$waves" -le 5 ] || fail "resident memory grew by $grown KiB in the last of 5 waves"
        soak "$2" "$3" $(($4 / 2)) 0.33 "--slow 0.05 --tls 1.2,1.3" >"$work/soak" 2>&1 || fail "beside abandoned ones: $(cat "$work/soak")"
        grep -q 'of them slowly' "$work/soak" || fail "none of the clients was slow: $(cat "$work/soak")"
        tries=0
        until [ "$(descriptors "$1")" -le "$before" ]; do
            tries=$((tries + 1))
            [ "$tries" -lt 150 ] || fail "descriptors: $before before, $(descriptors "$1") after"
            sleep 0.1
        done
        then=$memory memory=$(resident "$1")
        [ "$waves" -eq 1 ] || grown=$((memory - then))
    done
    cat "$work/soak"
}

# Its operations met in batches, so many of one algorithm at least, if the CPU has what their lanes need.
check_batches() { # check_batches PID [COUNT]
    if ! grep -qw fma /proc/cpuinfo; then
        echo "skipped: whether operations met in batches: this CPU has no FMA"
        return
    fi
    "$LANELOCK" stats "$1" --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["algorithms"]
for row in rows:
    print(row["algorithm"], "operations", row["completed"], "in lanes", row["in_lanes"])
least = int(sys.argv[1])
sys.exit(not any(row["in_lanes"] >= least for row in rows))' "${2-1}" || fail "fewer than ${2-1} operations ran in batches"
}

# Sentences of a log. The kernel says of one and the same reset client that, or that its pipe is broken,
# depending on whether the server read before it wrote.
sentences() { # sentences FILE
    sed 's/Broken pipe/Connection reset by peer/' "$1" | sort -u
}

# The log of the same work with lanelock has no sentence that it has not without. Some depend on who comes
# first, the server or its client: then what the server alone may say shows in several runs.
check_log() { # check_log RUN: `RUN COMMAND...` starts the server by the command, works, ends it and prints its sentences
    "$1" "$LANELOCK" run -- >"$work/logged"
    sentences "$work/logged" >"$work/with"
    : >"$work/alone"
    for _ in 1 2 3 4; do
        "$1" env >"$work/logged"
        sentences "$work/logged" >>"$work/alone"
        [ -s "$work/alone" ] || fail "nothing is logged without lanelock to compare with"
        more=$(sort -u "$work/alone" | comm -13 - "$work/with")
        [ -n "$more" ] || return 0
    done
    fail "logged only with lanelock: $more"
}

calls() { # calls PID PORT FOLDER COUNT: its system calls in a hundred of so many handshakes
    strace -c -f -p "$1" -o "$work/calls" 2>/dev/null &
    tracer=$!
    tries=0
    until grep -q '^TracerPid:.[1-9]' "/proc/$1/status"; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || fail "strace does not attach"
        sleep 0.1
    done
    soak "$2" "$3" "$4" 0 >/dev/null || fail "handshakes failed under strace"
    kill -INT "$tracer"
    wait "$tracer" || true
    awk -v count="$4" '/ total$/ { print int(100 * $4 / count) }' "$work/calls"
}

# What a pause costs the kernel: nearly nothing, since it has no descriptor and no event.
check_system_calls() { # check_system_calls COUNT: `COUNT COMMAND...` starts the server by the command, prints its calls, ends it
    command -v strace >/dev/null 2>&1 || {
        echo "skipped: system calls: strace is not installed (apt-get install strace)"
        return
    }
    "$1" env >"$work/counted"
    alone=$(cat "$work/counted")
    "$1" "$LANELOCK" run -- >"$work/counted"
    with=$(cat "$work/counted")
    echo "system calls in a hundred handshakes: $alone alone, $with with lanelock"
    [ "$with" -le $((alone + 400)) ] || fail "a handshake has over 4 system calls more"
}

# For servers that are started by `lanelock run`: the command by its full path, and its module.
use_lanelock() {
    [ -x "$LANELOCK" ] || fail "no $LANELOCK: make build"
    [ -f "$PROVIDER" ] || fail "no $PROVIDER: make build"
    LANELOCK=$(readlink -f "$LANELOCK")
    LANELOCK_PROVIDER=$(readlink -f "$PROVIDER")
    export LANELOCK_PROVIDER
}

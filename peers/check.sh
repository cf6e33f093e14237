#!/bin/bash
# Feeds the same requests to both peers and compares every digest: two
# unrelated libraries that agree have done the same work.
#
#   check.sh DIR     where the programs are
#
# Exits 0 only if every digest agrees on every route and every bad request is
# refused without ending the process.

set -euo pipefail
bin=${1:?usage: check.sh DIR}
evp=$bin/lanelock-peer-evp
mb=$bin/lanelock-peer-ipsec-mb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

ciphers="aes-128-cbc aes-192-cbc aes-256-cbc aes-128-ecb aes-192-ecb aes-256-ecb 3des-cbc"
streams="aes-128-ctr aes-192-ctr aes-256-ctr 3des-ctr"
xts="aes-128-xts aes-256-xts"
macs="hmac-md5 hmac-sha1 hmac-sha224 hmac-sha256 hmac-sha384 hmac-sha512 aes-128-cmac aes-256-cmac aes-128-gmac"
hashes="sha1 sha256 sha512"
aeads="aes-128-gcm aes-192-gcm aes-256-gcm aes-128-ccm aes-256-ccm chacha20-poly1305"
chains="aes-128-cbc+hmac-sha1 aes-128-cbc+hmac-sha256 aes-128-cbc+hmac-sha512
        aes-256-cbc+hmac-sha1 aes-256-cbc+hmac-sha256 aes-256-cbc+hmac-sha512"

blocks="64 16,48,1024,32,256,8192"
anything="64 1,63,65,1500,16,7,300,4097"
tiny="burst=1 pool=4 sessions=3"
usual="burst=32 pool=96 sessions=5"
large="burst=256 pool=512 sessions=512"

# prepare_lines "algorithms" "operations" "patterns" "extra fields"...
prepare_lines() {
    local algorithms=$1 operations=$2 patterns=$3 a o p g e
    shift 3
    for a in $algorithms; do for o in $operations; do for p in $patterns; do
        for g in "$tiny" "$usual" "$large"; do for e in "$@"; do
            echo "prepare algorithm=$a operation=$o pattern=$p $g $e"
        done; done
    done; done; done
}

cases() {
    prepare_lines "$ciphers" "encrypt decrypt" "$blocks" "layout=in-place" "layout=separate stride=8192"
    prepare_lines "$streams aes-128-cbc+hmac-sha1" "encrypt" "$blocks" "layout=separate stride=8200"
    prepare_lines "$streams" "encrypt decrypt" "$anything" "layout=in-place" "layout=separate stride=5001"
    prepare_lines "$xts" "encrypt decrypt" "64 16,17,31,1500,8191" "layout=in-place"
    prepare_lines "chacha20" "encrypt decrypt" "$anything" "iv=12" "iv=12 layout=separate"
    prepare_lines "$macs" "compute verify" "$anything" ""
    prepare_lines "hmac-sha1 hmac-sha256" "compute verify" "$anything" "key=64 tag=12" "key=1 tag=10 stride=4099"
    prepare_lines "aes-128-cmac" "compute verify" "$anything" "tag=12"
    prepare_lines "$hashes" "compute" "$anything" ""
    prepare_lines "$aeads" "encrypt" "$anything" "layout=in-place" "aad=13 layout=separate"
    prepare_lines "$aeads" "decrypt" "$anything" "layout=separate" "aad=20 layout=separate stride=4321"
    prepare_lines "aes-128-gcm aes-128-ccm" "encrypt" "$anything" "tag=8 aad=46"
    prepare_lines "aes-256-ccm" "encrypt" "$anything" "iv=13 aad=8" "iv=7"
    prepare_lines "$chains" "encrypt" "$blocks" "layout=in-place" "layout=separate tag=12"
    prepare_lines "$chains" "decrypt" "$blocks" "layout=separate" "layout=separate tag=12 mac_key=64"
    prepare_lines "aes-128-ctr+hmac-sha1 aes-128-ctr+hmac-sha256 aes-256-ctr+hmac-sha256" "encrypt decrypt" "$anything" "layout=separate stride=5001"
    echo "prepare algorithm=aes-128-gcm operation=encrypt pattern=65536,100000 burst=4 pool=8"
    echo "prepare algorithm=aes-256-ctr operation=encrypt pattern=65536,100000 burst=4 pool=8"
    echo "prepare algorithm=aes-128-cbc operation=encrypt pattern=65520 burst=4 pool=8"
}

refused() {
    cat <<'END'
prepare
prepare algorithm=aes-128-cbc operation=sign pattern=64
prepare algorithm=aes-128-cbc operation=encrypt pattern=63
prepare algorithm=aes-128-cbc operation=encrypt pattern=64,
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 burst=7 pool=32
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 stride=32
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 iv=12
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 aad=16
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 route=scenic
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 tier=avx1024
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 trial=0
prepare algorithm=aes-128-gcm operation=decrypt pattern=64 layout=in-place
prepare algorithm=sha256 operation=verify pattern=64
prepare algorithm=aes-128-ccm operation=encrypt pattern=64 tag=7
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 colour=blue
prepare algorithm=aes-128-cbc operation=encrypt pattern=64 pool=65536 burst=64 stride=2000000
prepare nonsense
run seconds=0.01
run seconds=soon
digest
dance
END
}

# ask PROGRAM REQUESTS ANSWERS: one answer per request, or the check ends here.
ask() {
    (cat "$2"; echo quit) | "$1" >"$3"
    if [ "$(wc -l <"$2")" -ne "$(wc -l <"$3")" ]; then
        echo "FAIL: $1 ended early, after: $(sed -n "$(wc -l <"$3")p" "$2")"
        exit 1
    fi
}

# Each case is prepared, digested, run for a moment (on states other than the
# first), and digested again.
with_runs() { sed 's/$/\ndigest\nrun seconds=0.0002\ndigest/'; }

# compare WHAT REQUESTS ANSWERS_A ANSWERS_B: counts, and complains about differences.
compare() {
    paste -d '\t' "$2" "$3" "$4" | awk -F '\t' -v what="$1" '
        NR % 4 == 1 { request = $1; skip = 0
            if ($2 ~ /^unsupported/ || $3 ~ /^unsupported/) { skip = 1; unsupported++ }
            else if ($2 !~ /^ready/ || $3 !~ /^ready/) { skip = 1; bad++; print "FAIL: " request ": " $2 " | " $3 }
            next }
        skip { next }
        $1 ~ /^run/ { if ($2 !~ /^ran/ || $3 !~ /^ran/) { bad++; print "FAIL: " request ": " $2 " | " $3 } next }
        { digests++; if ($2 !~ /^digest/ || $2 != $3) { bad++; print "FAIL: " request ": " $2 " | " $3 } }
        END { printf "%s: %d cases, %d digests compared, %d unsupported, %d failures\n",
                     what, NR / 4, digests, unsupported, bad; exit bad > 0 }' || failures=1
}

refused >"$work/refused"
for program in "$evp" "$mb"; do
    [ -x "$program" ] || { echo "$program is missing: nothing to compare"; exit 1; }
    ask "$program" "$work/refused" "$work/answers"
    accepted=$(grep -vc '^error reason="..*"$' "$work/answers" || true)
    echo "$(basename "$program"): $(wc -l <"$work/refused") bad requests, $accepted not refused"
    [ "$accepted" -eq 0 ] || failures=1
done

echo "prepare algorithm=aes-512-cbc operation=encrypt pattern=64" >"$work/unknown"
for program in "$evp" "$mb"; do
    ask "$program" "$work/unknown" "$work/answers"
    grep -q '^unsupported reason="no aes-512-cbc here' "$work/answers" ||
        { echo "FAIL: $(basename "$program"): an algorithm it lacks: $(cat "$work/answers")"; failures=1; }
done

cases >"$work/cases"
with_runs <"$work/cases" >"$work/requests"
ask "$evp" "$work/requests" "$work/evp"
ask "$mb" "$work/requests" "$work/mb"
compare "fastest routes" "$work/requests" "$work/evp" "$work/mb"

# libipsec-mb held to a narrower instruction set, which every CPU with AES instructions has.
sed '/^prepare/s/$/ tier=aesni/' "$work/requests" >"$work/held"
ask "$mb" "$work/held" "$work/sse"
compare "tier aesni" "$work/requests" "$work/evp" "$work/sse"

# Every other route each peer offers for a case has to give the digest just seen.
every_route() {
    local program=$1 answers=$2
    awk 'NR == FNR { if (FNR % 4 == 1) answer[++n] = $0; else if (FNR % 4 == 2) digest[n] = $0; next }
         match(answer[FNR], /routes=.*/) {
             count = split(substr(answer[FNR], RSTART + 7), routes, ",")
             for (i = 1; count > 1 && i <= count; i++) {
                 print $0 " route=" routes[i] >requests
                 print "digest" >requests
                 print digest[FNR] >expected
             } }' requests="$work/routes" expected="$work/expected" "$answers" "$work/cases"
    ask "$program" "$work/routes" "$work/answers"
    local differing
    differing=$(awk 'NR % 2 == 0' "$work/answers" | diff - "$work/expected" | grep -c '^<' || true)
    echo "$(basename "$program"): $(wc -l <"$work/expected") forced routes, $differing differing"
    [ "$differing" -eq 0 ] || failures=1
}
every_route "$evp" "$work/evp"
every_route "$mb" "$work/mb"

[ "$failures" -eq 0 ] && echo "check passed"
exit "$failures"

# Roots in which Traffic Server runs, beside what is installed; sourced after ../common.sh, not run.

need_trafficserver() {
    need traffic_manager trafficserver
    need openssl openssl
    [ -x "$LANELOCK" ] || fail "no $LANELOCK: make build"
    [ -f "$PROVIDER" ] || fail "no $PROVIDER: make build"
    LANELOCK_PROVIDERS=$(cd "$(dirname "$PROVIDER")" && pwd)
    LANELOCK_PROVIDER=$LANELOCK_PROVIDERS/lanelock.so
    export LANELOCK_PROVIDERS LANELOCK_PROVIDER
}

prepare() { # prepare KEY THREADS LEVEL: of certificates asked of clients, 0 for none, 2 to insist
    folder=$work/$1 port=$(free_port)
    root=$work/root-$port
    [ -d "$folder" ] || make_certificates "$1" "$folder"
    mkdir "$root" "$root/etc" "$root/run" "$root/log" "$root/cache" "$root/var"
    cat >"$root/runroot.yaml" <<END
prefix: /usr
exec_prefix: /usr
bindir: /usr/bin
sbindir: /usr/sbin
includedir: /usr/include
libdir: /usr/lib/trafficserver
libexecdir: /usr/lib/trafficserver/modules
sysconfdir: $root/etc
datadir: $root/cache
localstatedir: $root/var
runtimedir: $root/run
logdir: $root/log
cachedir: $root/cache
END
    cp /etc/trafficserver/*.yaml "$root/etc/"
    echo "map / http://127.0.0.1:$origin_port/" >"$root/etc/remap.config"
    echo "dest_ip=* ssl_cert_name=server.pem" >"$root/etc/ssl_multicert.config"
    echo "$root/cache 16M" >"$root/etc/storage.config"
    # Logs would be opened some time after the start: their descriptors look like a leak.
    cat >"$root/etc/records.config" <<END
CONFIG proxy.config.http.server_ports STRING $port:ssl:ip-in=127.0.0.1
CONFIG proxy.config.exec_thread.autoconfig INT 0
CONFIG proxy.config.exec_thread.limit INT $2
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.crash_log_helper STRING NULL
CONFIG proxy.config.http.cache.http INT 0
CONFIG proxy.config.log.logging_enabled INT 0
CONFIG proxy.config.stop.shutdown_timeout INT 1
CONFIG proxy.config.ssl.server.cert.path STRING $folder
CONFIG proxy.config.ssl.server.private_key.path STRING $folder
CONFIG proxy.config.ssl.client.certification_level INT $3
CONFIG proxy.config.ssl.CA.cert.path STRING $folder
CONFIG proxy.config.ssl.CA.cert.filename STRING clients.pem
END
    : >"$root/log/diags.log"
}

start() { # with the provider, as records.config and openssl.cnf say
    cat integrations/trafficserver/records.config >>"$root/etc/records.config"
    OPENSSL_CONF=$PWD/integrations/trafficserver/openssl.cnf \
        LD_PRELOAD=$LANELOCK_PROVIDERS/lanelock.so \
        ${PREFIX-} traffic_manager --run-root="$root" >"$root/out" 2>&1 &
    server=$!
    wait_for_start
}

start_service() { # as the unit does with lanelock.conf, and records.config
    cat integrations/trafficserver/records.config >>"$root/etc/records.config"
    # Of Debian's unit.
    export TM_DAEMON_ARGS="--run-root=$root"
    eval "set -- $(unit_command integrations/trafficserver/lanelock.conf)"
    "$@" >"$root/out" 2>&1 &
    server=$!
    wait_for_start
}

start_stock() {
    ${PREFIX-} traffic_manager --run-root="$root" >"$root/out" 2>&1 &
    server=$!
    wait_for_start
}

wait_for_start() { # the manager listens before it starts the process that serves
    wait_for_lines "traffic server running" 1
}

wait_for_lines() { # wait_for_lines TEXT COUNT: until so many lines of the log have the text
    tries=0
    until [ "$(grep -c "$1" "$root/log/diags.log")" -ge "$2" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || fail "no '$1': $(cat "$root/log/diags.log" "$root/out")"
        sleep 0.1
    done
}

stop() { # stop PID: a manager; what it started ends with it
    process=$(pgrep -P "$1")
    kill -TERM "$1"
    wait_for_end "$1" 20 || fail "the manager still runs 20 s after it was told to stop"
    wait_for_end "$process" 20 || fail "Traffic Server still runs 20 s after it was told to stop"
}

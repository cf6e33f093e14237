# `make run` and `make test` do everything, set-up included; `make help` lists the rest.

CARGO ?= cargo
SECONDS_PER_FUZZ_TARGET ?= 60
LANELOCK = target/release/lanelock
# What `tools/setup lint` installs.
LINT_TOOLS = target/tools/bin
# The crates of crates.io; every other has `publish = false`.
PUBLISHED = lanelock lanelock-core lanelock-kernels lanelock-native lanelock-openssl lanelock-public-key \
	lanelock-telemetry
PACKAGE = $(CARGO) package --quiet --offline --locked --target-dir target/packages \
	$(addprefix --package ,$(PUBLISHED))
# The OpenSSL provider, under the name by which OpenSSL looks for it.
MODULE = target/release/lanelock.so
# The C library as Cargo builds it.
CAPI = target/release/liblanelock_capi.a
# Those that are tested with the provider.
SERVERS = haproxy trafficserver nginx lighttpd redis unbound mosquitto httpd hitch mariadb
# Those with loops that llvm-mca is asked about.
MCA_ALGORITHMS = aes-128-cbc,aes-256-cbc,aes-128-ctr,aes-256-ctr,aes-128-gcm,aes-256-gcm,aes-128-ccm,aes-128-xts,aes-128-cmac,aes-128-gmac,sha1,sha256
# What `perf pubkey` calls the operations of ML-KEM.
ML_KEM = ml-kem-512-generate,ml-kem-512-encapsulate,ml-kem-512-decapsulate,ml-kem-768-generate,ml-kem-768-encapsulate,ml-kem-768-decapsulate,ml-kem-1024-generate,ml-kem-1024-encapsulate,ml-kem-1024-decapsulate
PUBLIC_API = $(CARGO) run --quiet --manifest-path tools/public-api/Cargo.toml --target-dir target/public-api --
CARGO_FOLDER = $(or $(CARGO_HOME),$(HOME)/.cargo)

.PHONY: run test test-servers test-libraries lint lint-tools features api api-check msrv package setup build profiles peers peers-newest freed exhaustive soak \
	integrations dpdk dpdk-24.11 libmongocrypt soak-tls race emulated taint openssl35 perf-openssl35 openssl4 aarch64 mca \
	aarch64-system aarch64-packages mca-aarch64 sanitize fuzz \
	install install-c capi abi abi-check deb deb-test header ml-kem-peers python datafusion scale clean help

run: build ## Build, check, measure every engine of this machine, write report.html
	$(LANELOCK) tour

test: setup peers ## Everything that must pass
	# lanelock-taint has no tests, and takes minutes to build: `make taint` does.
	tools/tests --workspace --exclude lanelock-taint
	# A release's command is an eighth smaller: so this one says, without it, that `make build` would fail.
	tools/artefacts --code target/debug/lanelock 53 target/debug/deps/liblanelock_provider.so 8
	$(MAKE) --no-print-directory -C peers check
	# What the tests were built with: a build of two packages alone would compile the engines anew.
	cp -f target/debug/deps/liblanelock_provider.so target/debug/lanelock.so
	# What is left waits, for servers and clusters, more than it computes.
	$(MAKE) --no-print-directory -j 2 --output-sync=target test-servers test-libraries

test-servers:
	mkdir -p target/servers
	printf '%s\n' $(SERVERS) | LANELOCK=target/debug/lanelock PROVIDER=target/debug/lanelock.so xargs -P 2 -I '{}' \
		sh -c 'integrations/{}/test --short >target/servers/{}.log 2>&1; code=$$?; cat target/servers/{}.log; exit $$code'

test-libraries:
	ARCHIVE=target/debug/deps/liblanelock_capi.a integrations/libmongocrypt/test
	if pkg-config --exists libdpdk libbsd; then $(MAKE) --no-print-directory -C integrations/dpdk \
		OUT=$(CURDIR)/target/debug/dpdk ARCHIVE=$(CURDIR)/target/debug/deps/liblanelock_capi.a && \
		OUT=target/debug/dpdk integrations/dpdk/test --short; fi
	# In the profile of the tests, whose kernels are optimised and built already. By itself: Cargo would ask
	# for the jobs of this make, which are not handed to it.
	PROFILE=dev MAKEFLAGS= $(MAKE) --no-print-directory python

lint: lint-tools ## Format, spelling, clippy, features, documentation, licences, public API, C ABI; warnings denied
	$(CARGO) fmt --all --check
	$(LINT_TOOLS)/typos
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(MAKE) --no-print-directory features
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(CARGO) fetch --locked --quiet
	$(LINT_TOOLS)/cargo-deny --log-level error --offline check licenses bans sources
	$(PACKAGE) --no-verify --allow-dirty
	$(MAKE) --no-print-directory api-check
	tools/abi

lint-tools: setup
	@tools/setup lint

features: lint-tools ## Every combination of the façade's features, warnings denied
	PATH="$(CURDIR)/$(LINT_TOOLS):$$PATH" $(CARGO) hack clippy --package lanelock --feature-powerset \
		--exclude-features vendored,default --quiet -- -D warnings

api: setup ## Write the public API to docs/api
	$(PUBLIC_API) docs/api

api-check: setup ## The public API is what docs/api says; `make api` writes it
	@$(PUBLIC_API) target/api; code=$$?; \
	if [ $$code = 3 ] && [ -z "$$CI" ]; then echo "api-check: not compared"; \
	elif [ $$code != 0 ]; then exit $$code; \
	else diff -u docs/api target/api; fi

msrv: setup ## The published crates with the oldest Rust that they promise, where rustup has it
	tools/msrv

package: setup ## The crates of crates.io, each built from its package, offline
	$(CARGO) fetch --locked --quiet
	# Cargo keeps what it has unpacked and built of a version: that of the run before.
	rm -rf target/packages $(PUBLISHED:%=$(CARGO_FOLDER)/registry/src/-*/%-[0-9]*)
	$(PACKAGE)

setup: ## Install what the build needs, or print the one line that does
	@tools/setup

build: setup peers
	$(CARGO) build --release -p lanelock-cli -p lanelock-provider
	cp -f target/release/liblanelock_provider.so $(MODULE).new
	mv -f $(MODULE).new $(MODULE)
	tools/artefacts $(MODULE) 8 $(LANELOCK) 45

profiles: build ## Long: as applications build it by default, no cell is over 3 % slower than optimised across crates
	$(CARGO) build --profile dist -p lanelock-cli
	tools/compare --limit 3 target/dist/lanelock $(LANELOCK)

peers: setup ## The C programs that lanelock is measured against
	$(MAKE) --no-print-directory -C peers

peers-newest: peers ## As root: the same with the libipsec-mb, OpenSSL and libcrypto_mb of Debian 13
	tools/peers-newest

freed: setup ## Before a release: no key in freed memory, with the code of a release
	$(CARGO) test --release --quiet -p lanelock-native --test freed

exhaustive: build ## Long: every algorithm, length and layout, every engine
	$(LANELOCK) check --exhaustive

soak: setup ## Long: the thread tests for some minutes, the longest messages
	LANELOCK_STRESS_ROUNDS=20000 $(CARGO) test --release -p lanelock-openssl --test threads
	$(CARGO) test --release -p lanelock-openssl --test large -- --include-ignored

libmongocrypt: setup ## Build and test target/libmongocrypt/liblanelock_mongocrypt.so: hooks for MongoDB's drivers
	$(CARGO) rustc --release -p lanelock-capi --lib --crate-type staticlib
	$(MAKE) --no-print-directory -C integrations/libmongocrypt
	integrations/libmongocrypt/test

integrations: build ## Long: servers and DPDK with lanelock, those that are installed
	for server in $(SERVERS); do integrations/$$server/test || exit; done
	if pkg-config --exists libdpdk; then $(MAKE) --no-print-directory dpdk && integrations/dpdk/test; fi

dpdk: setup ## The crypto driver for the DPDK that is installed: target/dpdk/librte_crypto_lanelock.so
	@tools/setup dpdk
	$(CARGO) rustc --release -p lanelock-capi --lib --crate-type staticlib
	$(MAKE) --no-print-directory -C integrations/dpdk

dpdk-24.11: capi ## As root: the same driver with the DPDK 24.11 of Debian 13, and DPDK's tests there
	tools/dpdk-releases 24.11

soak-tls: build ## Long: 100,000 handshakes of HAProxy with the provider, a third of them abandoned, some slow
	$(LANELOCK) perf tls --handshakes 100000 --abort 0.33 --slow 0.05 --connections 200

race: setup ## Valgrind's two race detectors, inside libcrypto too
	tools/race

openssl35: setup ## As root: public keys and the provider with the OpenSSL 3.5 of Debian 13
	tools/openssl-releases 3.5

perf-openssl35: build ## As root, long: ML-KEM and TLS over X25519MLKEM768 with the OpenSSL 3.5, nginx and HAProxy of Debian 13
	tools/openssl-releases 3.5 lanelock perf pubkey --engine openssl,native --batch 1,8 --algorithm $(ML_KEM)
	for server in nginx haproxy; do tools/openssl-releases 3.5 lanelock perf tls --server $$server \
		--key p256,rsa-2048 --group x25519mlkem768 --connections 1,200 --seconds 3 || exit; done

openssl4: setup ## As root: the same with the OpenSSL 4 of Debian experimental
	tools/openssl-releases 4

aarch64: ## As root: the tests of kernels, core, engines and façade on 64-bit Arm, under QEMU
	tools/aarch64

aarch64-system: ## As root: those of the C library, the provider and the command, in a Debian of 64-bit Arm under QEMU
	tools/aarch64 --system

aarch64-packages: ## As root: Debian's packages and the Python wheel for 64-bit Arm, installed and used there
	tools/aarch64 --packages

mca: build ## As root: llvm-mca's cycles of the kernels' loops on CPUs that are not at hand, and this CPU's own
	tools/aarch64 --prepare
	RUSTFLAGS="-C symbol-mangling-version=v0" CARGO_TARGET_DIR=target/mca \
		$(CARGO) build --quiet --release -p lanelock-kernels -p lanelock-jobs
	tools/mca target/mca/release/liblanelock_kernels.rlib target/mca/release/liblanelock_jobs.rlib
	@echo "measured on this machine, with the framework:"
	$(LANELOCK) perf cycles --engine native --sizes 8k --algorithm $(MCA_ALGORITHMS)
	$(LANELOCK) perf cycles --engine native --sizes 8k --operation decrypt --algorithm aes-128-cbc,aes-128-gcm

mca-aarch64: ## As root: the same for 64-bit Arm, beside OpenSSL's loops and what others measured
	tools/mca --table benchmarks/neoverse/loops.toml $$(tools/aarch64 --object)

emulated: build ## Long: the native engine on CPUs with AVX-512 and AVX-IFMA, emulated by Bochs
	tools/emulated
	# Which checks the answers of what it measures.
	tools/emulated --cpu corei7_icelake_u --cpu arrow_lake \
		$(LANELOCK) perf pubkey --engine native --batch 8 --keys 1 --rounds 1 --seconds 0.001

taint: setup ## Every kernel under Valgrind with secrets marked: no branch, no address
	tools/taint

sanitize: setup ## The core's tests under AddressSanitizer and ThreadSanitizer
	tools/sanitize

fuzz: setup ## Each fuzz target for SECONDS_PER_FUZZ_TARGET (60)
	tools/fuzz $(SECONDS_PER_FUZZ_TARGET)

# Each with its debug information where debuggers look for it.
install: build ## Install the command and the provider for this user, without root
	install -D -t "$(CARGO_FOLDER)/bin" $(LANELOCK)
	install -D -m 644 -t "$(CARGO_FOLDER)/bin/.debug" $(LANELOCK).debug
	install -D -t "$(CARGO_FOLDER)/lib/lanelock" $(MODULE)
	install -D -m 644 -t "$(CARGO_FOLDER)/lib/lanelock/.debug" $(MODULE).debug

header: ## Write lanelock.h anew, with cbindgen, after changes of the C interface
	tools/header

abi: lint-tools ## Write the C ABI to crates/lanelock-capi/abi
	tools/abi --write

abi-check: lint-tools capi ## The C ABI is what crates/lanelock-capi/abi says, the built library's too; `make abi` writes it
	PREFIX=/usr LIBDIR= DESTDIR=target/abi tools/install-c $(CAPI)
	tools/abi target/abi/usr/lib/liblanelock.so

deb: build capi ## Debian packages: the C library, its development files, the command, the provider
	tools/deb

deb-test: deb ## As root: install the packages in a Debian 12 root of its own and use them there
	tools/deb-test

install-c: export PREFIX ?= /usr/local
install-c: export DESTDIR ?=
install-c: export LIBDIR ?=

install-c: capi ## Install the C library: lanelock.h, liblanelock.so.0, liblanelock.a; PREFIX=/usr/local DESTDIR=
	tools/install-c $(CAPI)

capi: setup
	$(CARGO) rustc --release -p lanelock-capi --lib --crate-type staticlib

python: setup ## The Python package: its wheel in target/wheels, installed and tested in an environment of its own
	@tools/setup python
	tools/python

datafusion: setup ## Functions for DataFusion: built and tested; takes minutes, DataFusion is large
	cd integrations/datafusion && $(CARGO) test --locked --quiet --target-dir $(CURDIR)/target/datafusion
	cd integrations/datafusion && $(CARGO) run --locked --quiet --target-dir $(CURDIR)/target/datafusion --example columns

scale: python ## Long: Spark and Ray on clusters of two workers, one killed, with the Python package; SCALE="--size 2" for 2 GB
	@tools/setup clusters
	target/python-environment/bin/pip install --quiet --requirement crates/lanelock-python/requirements-clusters.txt
	cd crates/lanelock-python && $(CURDIR)/target/python-environment/bin/python -m pytest -p no:cacheprovider \
		tests/test_spark.py tests/test_ray.py tests/test_examples.py
	target/python-environment/bin/python crates/lanelock-python/tests/scale $(SCALE)

ml-kem-peers: ## ML-KEM beside libcrux and AWS-LC: nanoseconds per operation, in turns, answers compared
	$(CARGO) run --release --quiet --manifest-path peers/ml-kem/Cargo.toml --target-dir target/peer-ml-kem

clean: ## Remove what was built
	$(CARGO) clean
	rm -f report.html

help: ## This list
	@grep -E '^[a-z0-9.-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9.-]+):.*## /\1|/' | column -t -s '|'

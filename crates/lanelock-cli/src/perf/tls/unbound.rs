//! unbound with DNS over TLS, one thread.

use std::fs;
use std::io;

use super::server::{Row, Setup, Site, quoted};

pub(super) const ROW: Row = Row::new("unbound", "unbound", "unbound", configure);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("unbound.conf");
    let pem = quoted(&site.folder.join("server.pem"));
    // As many again may be closing. A port that another one has taken meanwhile is an error, not shared with it.
    let connections = 2 * setup.connections + 64;
    let port = site.address.port();
    fs::write(
        &path,
        format!(
            "server:\n  directory: {}\n  chroot: \"\"\n  username: \"\"\n  pidfile: {}\n  \
             interface: {}@{port}\n  tls-port: {port}\n  tls-service-pem: {pem}\n  \
             tls-service-key: {pem}\n  incoming-num-tcp: {connections}\n  num-threads: 1\n  \
             so-reuseport: no\n  do-daemonize: no\n  use-syslog: no\n  verbosity: 0\n  auto-trust-anchor-file: \"\"\n  \
             module-config: \"iterator\"\nremote-control:\n  control-enable: no\n",
            quoted(&site.folder),
            quoted(&site.folder.join("pid")),
            site.address.ip(),
        ),
    )?;
    Ok(["-d", "-c", &path.display().to_string()]
        .map(str::to_owned)
        .into())
}

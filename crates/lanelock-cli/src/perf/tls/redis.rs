//! Redis, which nothing is stored in.

use std::fs;
use std::io;

use super::server::{Row, Setup, Site, quoted};

pub(super) const ROW: Row = Row::new("redis", "redis-server", "redis-server", configure);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("redis.conf");
    let pem = quoted(&site.folder.join("server.pem"));
    fs::write(
        &path,
        format!(
            "bind {}\nport 0\ntls-port {}\ntls-cert-file {pem}\ntls-key-file {pem}\n\
             tls-auth-clients no\ntls-protocols \"TLSv{}\"\ntls-session-caching no\n\
             tcp-backlog 4096\nsave \"\"\nappendonly no\ndir {}\nloglevel warning\n",
            site.address.ip(),
            site.address.port(),
            setup.version.name(),
            quoted(&site.folder),
        ),
    )?;
    Ok(vec![path.display().to_string()])
}

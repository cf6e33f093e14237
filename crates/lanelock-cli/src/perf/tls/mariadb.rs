//! MariaDB with a thread for each connection, and without any table: nobody gets further than TLS.

use std::fs;
use std::io;

use super::server::{Row, Setup, Site, quoted};

pub(super) const ROW: Row = Row::new("mariadb", "mariadbd", "mariadb-server", configure);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("mariadb.cnf");
    let data = site.folder.join("data");
    fs::create_dir(&data)?;
    let (data, pem) = (quoted(&data), quoted(&site.folder.join("server.pem")));
    // As many again may be closing.
    let connections = 2 * setup.connections + 64;
    fs::write(
        &path,
        format!(
            "[mariadbd]\nuser = root\ndatadir = {data}\naria-log-dir-path = {data}\nsocket = {}\n\
             pid-file = {}\nbind-address = {}\nport = {}\nskip-grant-tables\nskip-innodb\n\
             default-storage-engine = Aria\nskip-name-resolve\nlog-warnings = 0\n\
             max-connections = {connections}\nback-log = 4096\nssl-cert = {pem}\nssl-key = {pem}\n\
             tls-version = TLSv{}\n",
            quoted(&site.folder.join("socket")),
            quoted(&site.folder.join("pid")),
            site.address.ip(),
            site.address.port(),
            setup.version.name(),
        ),
    )?;
    Ok(vec![format!("--defaults-file={}", path.display())])
}

//! lighttpd, one process.

use std::fs;
use std::io;

use super::server::{Row, Setup, Site, quoted};

pub(super) const ROW: Row = Row::new(
    "lighttpd",
    "lighttpd",
    "lighttpd lighttpd-mod-openssl",
    configure,
);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("lighttpd.conf");
    let descriptors = 2 * setup.connections + 256;
    let version = setup.version.name();
    fs::write(
        &path,
        format!(
            "server.modules = (\"mod_openssl\")\nserver.document-root = {}\n\
             server.bind = \"{}\"\nserver.port = {}\nserver.max-fds = {descriptors}\n\
             server.listen-backlog = 4096\nssl.engine = \"enable\"\nssl.pemfile = {}\n\
             ssl.openssl.ssl-conf-cmd = (\"MinProtocol\" => \"TLSv{version}\", \
             \"MaxProtocol\" => \"TLSv{version}\", \"Options\" => \"-SessionTicket\")\n",
            quoted(&site.folder),
            site.address.ip(),
            site.address.port(),
            quoted(&site.folder.join("server.pem")),
        ),
    )?;
    Ok(["-D", "-f", &path.display().to_string()]
        .map(str::to_owned)
        .into())
}

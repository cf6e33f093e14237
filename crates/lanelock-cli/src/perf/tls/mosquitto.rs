//! mosquitto, which nobody publishes to.

use std::fs;
use std::io;

use super::server::{Row, Setup, Site};

pub(super) const ROW: Row = Row::new("mosquitto", "mosquitto", "mosquitto", configure);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("mosquitto.conf");
    let pem = site.folder.join("server.pem");
    let pem = pem.display();
    fs::write(
        &path,
        // Root's would serve as a user who may not read the key.
        format!(
            "user root\nlistener {} {}\ncertfile {pem}\nkeyfile {pem}\ntls_version tlsv{}\n\
             allow_anonymous true\nlog_type error\n",
            site.address.port(),
            site.address.ip(),
            setup.version.name(),
        ),
    )?;
    Ok(["-c", &path.display().to_string()]
        .map(str::to_owned)
        .into())
}

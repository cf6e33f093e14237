//! nginx, one process, with its own defaults where they do not forbid full handshakes.

use std::fs;
use std::io;

use super::server::{Row, Setup, Site, quoted};

pub(super) const ROW: Row = Row::new("nginx", "nginx", "nginx-light", configure);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let folder = &site.folder;
    let path = folder.join("nginx.conf");
    // As many again may be closing, and each has a descriptor.
    let connections = 2 * setup.connections + 256;
    let mut temporary = String::new();
    for what in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        temporary += &format!("{what}_temp_path {};\n", quoted(&folder.join(what)));
    }
    let multi_accept = if setup.multi_accept { "on" } else { "off" };
    let groups = setup.group.list();
    let groups = groups.map_or_else(String::new, |list| format!("ssl_ecdh_curve {list};\n"));
    let pem = quoted(&folder.join("server.pem"));
    fs::write(
        &path,
        format!(
            "daemon off;\nmaster_process off;\npid {};\nerror_log stderr crit;\n\
             worker_rlimit_nofile {};\n\
             events {{ worker_connections {connections}; multi_accept {multi_accept}; }}\n\
             http {{\naccess_log off;\n{temporary}server {{\nlisten {} ssl backlog=4096;\n\
             ssl_certificate {pem};\nssl_certificate_key {pem};\nssl_protocols TLSv{};\n\
             {groups}ssl_session_cache off;\nssl_session_tickets off;\n\
             location / {{ return 200; }}\n}}\n}}\n",
            quoted(&folder.join("pid")),
            connections + 64,
            site.address,
            setup.version.name(),
        ),
    )?;
    let arguments = [
        "-c",
        &path.display().to_string(),
        "-p",
        &folder.display().to_string(),
    ];
    // What it says before it has read its configuration.
    let log = ["-e", "stderr"];
    Ok(arguments
        .into_iter()
        .chain(log)
        .map(str::to_owned)
        .collect())
}

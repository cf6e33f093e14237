//! HAProxy, one thread.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::server::{Counters, Row, Setup, Site};

pub(super) const ROW: Row = Row::new("haproxy", "haproxy", "haproxy", configure);

fn configure(setup: &Setup, site: &Site) -> io::Result<Vec<String>> {
    let path = site.folder.join("haproxy.cfg");
    fs::write(&path, configuration(setup, site))?;
    Ok(["-db", "-f"]
        .map(str::to_owned)
        .into_iter()
        .chain([path.display().to_string()])
        .collect())
}

/// What the server whose files are in `folder` has counted, if it answers within `patience`.
///
/// # Errors
/// What went wrong on its socket.
pub(super) fn counters(folder: &Path, patience: Duration) -> io::Result<Counters> {
    let ask = |command: &str| {
        let mut socket = admin(folder)?;
        socket.set_read_timeout(Some(patience))?;
        writeln!(socket, "{command}")?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok::<_, io::Error>(answer)
    };
    let info = ask("show info")?;
    let info: HashMap<&str, &str> = info.lines().filter_map(|l| l.split_once(": ")).collect();
    let stat = ask("show stat")?;
    let mut lines = stat.lines();
    let titles = lines.next().unwrap_or_default();
    let titles = titles.trim_start_matches("# ").split(',');
    let values = lines.find(|line| line.starts_with("tls,FRONTEND,"));
    let stat: HashMap<&str, &str> = titles.zip(values.unwrap_or_default().split(',')).collect();
    let number = |from: &HashMap<&str, &str>, name: &str| {
        let value = from.get(name).and_then(|value| value.parse().ok());
        value.ok_or_else(|| io::Error::other(format!("no number called {name}")))
    };
    Ok(Counters {
        handshakes: number(&stat, "ssl_sess")?,
        resumed: number(&stat, "ssl_reused_sess")?,
        connections: number(&info, "CurrConns")?,
        jobs: number(&info, "Jobs")?,
    })
}

/// The server's socket for commands.
///
/// # Errors
/// If it is not there yet.
pub(super) fn admin(folder: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(folder.join("admin.sock"))
}

fn configuration(setup: &Setup, site: &Site) -> String {
    let (folder, address) = (site.folder.display(), site.address);
    let version = setup.version.name();
    // As many again may be closing. A paused handshake has a descriptor more, which HAProxy does
    // not count on.
    let maxconn = 2 * setup.connections + 64;
    let descriptors = 2 * maxconn + 2 * setup.connections + 256;
    let mut text = format!(
        "global\n    nbthread 1\n    maxconn {maxconn}\n    ulimit-n {descriptors}\n    \
         stats socket \"{folder}/admin.sock\" mode 600 level admin\n    \
         tune.ssl.cachesize 0\n    \
         ssl-default-bind-options ssl-min-ver TLSv{version} ssl-max-ver TLSv{version} \
         no-tls-tickets\n"
    );
    // Writing to a string succeeds.
    if let Some(list) = setup.group.list() {
        let _ = writeln!(text, "    ssl-default-bind-curves {list}");
    }
    if setup.provider.is_some() {
        text.push_str("    ssl-mode-async\n");
    }
    let _ = write!(
        text,
        "defaults\n    mode http\n    timeout client 30s\n    timeout server 30s\n    \
         timeout connect 5s\n\
         frontend tls\n    bind {address} ssl crt \"{folder}/server.pem\"\n    \
         http-request return status 200\n"
    );
    text
}
